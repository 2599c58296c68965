package io.fasterkv.bench.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;

/** The distributions that Nexmark publishes. */
class EventsTest {
  private static final int COUNT = 100_000;

  private final Events events = new Events(7);

  /** Number of fields of each part of an event's row. */
  private static final int[] FIELDS = {8, 10, 7};

  private static RowData part(RowData event) {
    int type = event.getInt(0);
    return event.getRow(1 + type, FIELDS[type]);
  }

  private double shareOf(int type, LongUnaryOperator isCounted) {
    long all = 0;
    long counted = 0;
    for (long n = 50_000; n < 50_000 + COUNT; n++) {
      if (events.event(n).getInt(0) == type) {
        all++;
        counted += isCounted.applyAsLong(n);
      }
    }
    return (double) counted / all;
  }

  @Test
  void of50EventsOneIsAPersonThreeAreAuctions() {
    int[] counts = new int[3];
    for (long n = 0; n < 5_000; n++) {
      counts[events.event(n).getInt(0)]++;
    }
    assertThat(counts).containsExactly(100, 300, 4600);
  }

  @Test
  void idsOfPersonsAndAuctionsAscendWithoutGaps() {
    long person = 999;
    long auction = 999;
    for (long n = 0; n < 10_000; n++) {
      RowData event = events.event(n);
      if (event.getInt(0) == Events.PERSON) {
        assertThat(part(event).getLong(0)).isEqualTo(++person);
      } else if (event.getInt(0) == Events.AUCTION) {
        assertThat(part(event).getLong(0)).isEqualTo(++auction);
      }
    }
  }

  @Test
  void halfOfTheBidsAreOnTheHotAuction() {
    double hot =
        shareOf(
            Events.BID,
            n -> {
              long newest = Ids.newestAuction(n);
              return part(events.event(n)).getLong(0) == 1000 + newest / 100 * 100 ? 1 : 0;
            });
    assertThat(hot).isCloseTo(0.5, within(0.02));
  }

  @Test
  void threeOfFourBidsAreByTheHotBidder() {
    double hot =
        shareOf(
            Events.BID, n -> part(events.event(n)).getLong(1) == 1001 + n / 50 / 100 * 100 ? 1 : 0);
    assertThat(hot).isCloseTo(0.75, within(0.01));
  }

  @Test
  void threeOfFourAuctionsAreByTheHotSeller() {
    double hot =
        shareOf(
            Events.AUCTION,
            n -> part(events.event(n)).getLong(7) == 1000 + n / 50 / 100 * 100 ? 1 : 0);
    assertThat(hot).isCloseTo(0.75, within(0.02));
  }

  @Test
  void bidsReferToRecentAuctionsAndToAFewThatFollow() {
    for (long n = 50_000; n < 60_000; n++) {
      RowData event = events.event(n);
      if (event.getInt(0) == Events.BID) {
        long newest = 1000 + Ids.newestAuction(n);
        assertThat(part(event).getLong(0)).isBetween(newest - 100, newest + 10);
      }
    }
  }

  @Test
  void eventsHaveTheirAverageSize() {
    long[] bytes = new long[3];
    long[] counts = new long[3];
    int[] longs = {8, 64, 32};
    int[][] texts = {{1, 2, 3, 4, 5, 7}, {1, 2, 9}, {6}};
    for (long n = 0; n < COUNT; n++) {
      RowData event = events.event(n);
      int type = event.getInt(0);
      bytes[type] += longs[type];
      counts[type]++;
      for (int field : texts[type]) {
        bytes[type] += part(event).getString(field).toBytes().length;
      }
    }
    assertThat((double) bytes[0] / counts[0]).isCloseTo(200, within(5.0));
    assertThat((double) bytes[1] / counts[1]).isCloseTo(500, within(5.0));
    assertThat((double) bytes[2] / counts[2]).isCloseTo(100, within(2.0));
  }

  @Test
  void pricesAreSpreadOverSixPowersOfTen() {
    double low = shareOf(Events.BID, n -> part(events.event(n)).getLong(2) < 10_000 ? 1 : 0);
    double high = shareOf(Events.BID, n -> part(events.event(n)).getLong(2) >= 1_000_000 ? 1 : 0);
    assertThat(low).isCloseTo(1 / 3.0, within(0.02));
    assertThat(high).isCloseTo(1 / 3.0, within(0.02));
  }

  @Test
  void halfOfTheBidsUseOneOfFourChannelsAndNineOfTenOthersHaveAnId() {
    TreeMap<String, Integer> hot = new TreeMap<>();
    int others = 0;
    int withId = 0;
    for (long n = 0; n < COUNT; n++) {
      RowData event = events.event(n);
      if (event.getInt(0) == Events.BID) {
        String channel = part(event).getString(3).toString();
        if (Channels.HOT.contains(channel)) {
          hot.merge(channel, 1, Integer::sum);
        } else {
          others++;
          withId += part(event).getString(4).toString().contains("&channel_id=") ? 1 : 0;
        }
      }
    }
    assertThat(hot).hasSize(4);
    assertThat(hot.values())
        .allSatisfy(count -> assertThat(count / 92_000.0).isBetween(0.12, 0.13));
    assertThat((double) withId / others).isCloseTo(0.9, within(0.02));
  }

  @Test
  void anEventDependsOnItsSeedAndNumberOnly() {
    Events same = new Events(7);
    Events other = new Events(8);
    int equal = 0;
    for (long n = 999; n >= 0; n--) {
      assertThat(same.event(n)).isEqualTo(events.event(n));
      equal += other.event(n).equals(events.event(n)) ? 1 : 0;
    }
    assertThat(equal).isZero();
  }

  @Test
  void readersShareAllEventsAndNeverAMillisecond() {
    for (long total : new long[] {1, 9, 10, 35, 1000, 1234}) {
      for (int disorder : new int[] {1, 7, 100}) {
        Set<Long> seen = new HashSet<>();
        for (int reader = 0; reader < 3; reader++) {
          Share share = new Share(reader, 3, total, disorder);
          for (long position = 0; position < share.size(); position++) {
            long number = share.number(position);
            assertThat(number).isBetween(0L, total - 1);
            assertThat(number / 10 % 3).isEqualTo(reader);
            assertThat(seen.add(number)).isTrue();
          }
        }
        assertThat(seen).hasSize((int) total);
      }
    }
  }

  @Test
  void disorderChangesTheOrderWithinItsGroupOnly() {
    Share share = new Share(0, 1, 1000, 100);
    int changed = 0;
    for (long position = 0; position < share.size(); position++) {
      assertThat(share.number(position) / 100).isEqualTo(position / 100);
      changed += share.number(position) == position ? 0 : 1;
    }
    assertThat(changed).isGreaterThan(900);
  }
}

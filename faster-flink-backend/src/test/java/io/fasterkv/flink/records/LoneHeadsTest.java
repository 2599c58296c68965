package io.fasterkv.flink.records;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.RecordEdit;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.list.ListSnapshot;
import io.fasterkv.flink.records.map.ByteMaps;
import io.fasterkv.flink.records.write.StateRecords;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests adding a part after compaction has decided to drop its head, whose parts had all expired,
 * and before it drops the head.
 */
class LoneHeadsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEMORY_BYTES = 768 << 10;
  private static final int PAGE_BYTES = 16 << 10;
  private static final int STATE = 1;
  private static final int KEYS = 100;

  /** The key of {@link TestRecords} to whose head a part is added. */
  private static final int CAUGHT = 7;

  /** The last byte of parts that do not expire. */
  private static final byte NEW = 77;

  @TempDir Path directory;

  private final LoneHeads heads = new LoneHeads();
  private boolean isOfMaps;
  private boolean isExpired;
  private @Nullable Runnable whenHeadGoes;
  private @Nullable Runnable beforePart;

  /** Lets all parts expire at one moment, but not those that are written later. */
  private final class AtOneMoment implements KeepRule {
    private final DeadParts parts;

    AtOneMoment(ValueIncarnations incarnations) {
      parts = new DeadParts(incarnations);
    }

    @Override
    public boolean keepsAll() {
      return !isExpired;
    }

    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      if (KeyLayout.sub(key) != 0) {
        return isNew(value) && parts.keeps(key, value, store);
      }
      boolean isLone =
          PartLayout.ofHead(value) != PartLayout.NONE
              && (isOfMaps
                  ? heads.isMapWithoutBuckets(key, value, store)
                  : heads.isListWithoutChunks(key, value, store));
      Runnable action = whenHeadGoes;
      if (isLone && action != null && key.getByte(KeyLayout.KEY_LENGTH_AT + 1) == CAUGHT) {
        whenHeadGoes = null;
        action.run();
      }
      return !isLone;
    }

    private boolean isNew(ByteSpan part) {
      return part.getByte(part.length() - 1) == NEW;
    }
  }

  /**
   * The element is too long for an inline list, so the append first reads the head without changing
   * it.
   */
  @Test
  void aConcurrentlyAddedElementStays() {
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false)) {
      test.incarnations.noteTimed(STATE);
      ByteLists lists = test.records.lists();
      fillLists(test);
      byte[] fresh = new byte[3000];
      fresh[fresh.length - 1] = NEW;
      race(test, () -> lists.append(test.key(CAUGHT), fresh, 0, fresh.length));

      Bytes group = new Bytes();
      ListSnapshot read = Objects.requireNonNull(lists.read(test.key(CAUGHT)));
      assertThat(read.readGroup(ListSnapshot.FIRST, group)).isEqualTo(ListSnapshot.END);
      assertThat(group.length()).isEqualTo(fresh.length);
      assertThat(lists.read(test.key(CAUGHT + 1))).isNull();
    }
  }

  /**
   * The append of a short element first changes the head, which copies it to the tail, beyond the
   * compacted part. But the appending thread may then pause for so long that compaction reaches the
   * copy.
   */
  @Test
  void anElementStaysWhoseHeadWasDroppedJustBeforeItsChunkWasAdded() {
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false, this::open)) {
      test.incarnations.noteTimed(STATE);
      ByteLists lists = test.records.lists();
      fillLists(test);
      expireBeforePart(test);
      byte[] fresh = {1, 2, NEW};
      lists.append(test.key(CAUGHT), fresh, 0, fresh.length);

      assertThat(beforePart).isNull();
      Bytes group = new Bytes();
      ListSnapshot read = Objects.requireNonNull(lists.read(test.key(CAUGHT)));
      assertThat(read.readGroup(ListSnapshot.FIRST, group)).isEqualTo(ListSnapshot.END);
      assertThat(group.length()).isEqualTo(fresh.length);
    }
  }

  @Test
  void anEntryStaysWhoseHeadWasDroppedJustBeforeItsBucketWasAdded() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false, this::open)) {
      test.incarnations.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      expireBeforePart(test);
      byte[] fresh = {99, 1, 2, NEW};
      maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1);

      assertThat(beforePart).isNull();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
    }
  }

  /** A kept head is not read again, so the put does not notice that the stored one was dropped. */
  @Test
  void anEntryStaysWhoseKeptHeadWentJustBeforeItsBucketCame() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false, this::open)) {
      test.incarnations.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      byte[] fresh = {99, 1, 2, NEW};
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isFalse();
      expireBeforePart(test);
      maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1);

      assertThat(beforePart).isNull();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
      assertThat(maps.get(test.key(CAUGHT + 1), fresh, 0, 1, new Bytes())).isFalse();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
      assertThat(maps.isEmpty(test.key(CAUGHT))).isFalse();
    }
  }

  /** An entry is replaced with one of the same length, which does not change the head's counts. */
  @Test
  void anEntryThatIsReplacedUnderAKeptHeadStays() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false)) {
      test.incarnations.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      byte[] fresh = new byte[100];
      fresh[fresh.length - 1] = NEW;
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
      race(test, () -> maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1));

      assertThat(maps.isEmpty(test.key(CAUGHT + 1))).isTrue();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
    }
  }

  private static void fillLists(TestRecords test) {
    byte[] element = new byte[900];
    for (int i = 0; i < 24 * KEYS; i++) {
      test.records.lists().append(test.key(i % KEYS), element, 0, element.length);
    }
  }

  private static void fillMaps(TestRecords test) {
    for (int i = 0; i < 60 * KEYS; i++) {
      byte[] entry = new byte[100];
      entry[0] = (byte) (i / KEYS);
      test.records.maps().put(test.key(i % KEYS), entry, 1, entry.length - 1);
    }
  }

  /**
   * Lets all parts expire. Compaction drops them and their heads just before the next change of a
   * part.
   */
  private void expireBeforePart(TestRecords test) {
    isExpired = true;
    beforePart =
        () -> {
          // Two rounds, since a head that is older than its parts is copied once.
          for (int round = 0; round < 2; round++) {
            long end = test.store.log().tailAddress();
            compactUntil(test, () -> test.store.log().beginAddress() >= end);
          }
        };
  }

  private StateRecords open(FasterStore store, ValueIncarnations incarnations) {
    return new StateRecords(new StoppedRecords(store, incarnations), state -> null);
  }

  /** Runs {@link #beforePart} once, between a change of a head and the change of its part. */
  private final class StoppedRecords extends Records {
    StoppedRecords(FasterStore store, ValueIncarnations incarnations) {
      super(store, incarnations);
    }

    @Override
    public void editPart(CompositeKey key, int part, long incarnation, RecordEdit edit) {
      Runnable action = beforePart;
      if (action != null) {
        beforePart = null;
        byte[] prefix = key.copyOfPrefix();
        action.run();
        assertThat(read(key.setPrefix(prefix, 0, prefix.length).head(), value -> {}))
            .as("head")
            .isFalse();
      }
      super.editPart(key, part, incarnation, edit);
    }
  }

  @Test
  void aConcurrentlyAddedEntryStays() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false)) {
      test.incarnations.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      byte[] fresh = {99, 1, 2, NEW};
      race(test, () -> maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1));

      Bytes value = new Bytes();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, value)).isTrue();
      assertThat(value.length()).isEqualTo(fresh.length - 1);
      assertThat(maps.isEmpty(test.key(CAUGHT))).isFalse();
      assertThat(maps.isEmpty(test.key(CAUGHT + 1))).isTrue();
      assertThat(maps.remove(test.key(CAUGHT), fresh, 0, 1)).isTrue();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, value)).isFalse();
    }
  }

  /**
   * Compacts until all existing records have left the log. The action runs during a compaction run.
   */
  private void race(TestRecords test, Runnable action) {
    whenHeadGoes = action;
    isExpired = true;
    compactUntil(test, () -> whenHeadGoes == null);
    long end = test.store.log().tailAddress();
    compactUntil(test, () -> test.store.log().beginAddress() >= end);
  }

  private static void compactUntil(TestRecords test, BooleanSupplier isOver) {
    long start = System.nanoTime();
    while (!isOver.getAsBoolean()) {
      // New writes let the begin address move past all existing records.
      test.records.values().put(test.key(KEYS + 1), new byte[1000], 1000);
      test.store.log().cut().close();
      test.store.log().compact();
      assertThat(System.nanoTime() - start)
          .as(() ->
              "log "
                  + test.store.statistics().logBytes()
                  + ", "
                  + test.store.statistics().compaction())
          .isLessThan(PATIENCE.toNanos());
    }
  }
}

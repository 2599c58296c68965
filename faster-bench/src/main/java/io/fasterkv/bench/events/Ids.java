package io.fasterkv.bench.events;

/**
 * Which ids exist at an event, and which ones events refer to.
 *
 * <p>Of 50 events in a row the first is a person, the next three are auctions, 46 are bids. Ids of
 * persons and auctions ascend from {@value #FIRST}. A hot id is the newest multiple of {@value
 * #HOT_STEP}, so it changes while the run goes on; the other references are to recent ids, and a
 * few to ids that follow soon.
 */
final class Ids {
  static final int PERSONS = 1;
  static final int AUCTIONS = 3;
  static final int PERIOD = 50;
  static final long FIRST = 1000;

  /** Auctions that bids refer to. */
  static final int OPEN_AUCTIONS = 100;

  private static final int ACTIVE_PERSONS = 1000;
  private static final int AHEAD = 10;
  private static final int HOT_STEP = 100;

  /** One of two bids is on the hot auction. */
  private static final int HOT_AUCTION = 2;

  /** Three of four auctions are by the hot seller. */
  private static final int HOT_SELLER = 4;

  /** Three of four bids are by the hot bidder, the person after the hot seller. */
  private static final int HOT_BIDDER = 4;

  private final EventRandom random;

  Ids(EventRandom random) {
    this.random = random;
  }

  static boolean isPerson(long number) {
    return number % PERIOD < PERSONS;
  }

  static boolean isAuction(long number) {
    return !isPerson(number) && number % PERIOD < PERSONS + AUCTIONS;
  }

  /** The newest person when an event happens, counted from 0. */
  static long newestPerson(long number) {
    return number / PERIOD;
  }

  /** The newest auction when an event happens, counted from 0; -1 before the first. */
  static long newestAuction(long number) {
    long before = number / PERIOD * AUCTIONS;
    long ofThisPeriod = Math.clamp(number % PERIOD - PERSONS + 1, 0, AUCTIONS);
    return before + ofThisPeriod - 1;
  }

  long seller(long number) {
    long newest = newestPerson(number);
    return FIRST + (random.below(HOT_SELLER) > 0 ? hot(newest) : person(newest));
  }

  long bidder(long number) {
    long newest = newestPerson(number);
    return FIRST + (random.below(HOT_BIDDER) > 0 ? hot(newest) + 1 : person(newest));
  }

  long auction(long number) {
    long newest = Math.max(0, newestAuction(number));
    if (random.below(HOT_AUCTION) > 0) {
      return FIRST + hot(newest);
    }
    long oldest = Math.max(0, newest - OPEN_AUCTIONS);
    return FIRST + oldest + random.below(newest - oldest + 1 + AHEAD);
  }

  private static long hot(long newest) {
    return newest / HOT_STEP * HOT_STEP;
  }

  private long person(long newest) {
    long active = Math.min(newest + 1, ACTIVE_PERSONS);
    return newest + 1 - active + random.below(active + AHEAD);
  }
}

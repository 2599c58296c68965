package io.fasterkv.compaction;

import java.util.SplittableRandom;

/**
 * Places of a page, one in each of its equal steps, at random there, since records may be of
 * regular size. So each byte is as likely as any other, and a record counts by its length. For a
 * page whose records come by in the order of their addresses.
 */
final class PagePlaces {
  private final SplittableRandom random;
  private final long step;
  private long stepAt;
  private long place;

  /**
   * @param page the page's first address
   * @param count how many places, at least one
   */
  PagePlaces(SplittableRandom random, long page, long pageBytes, int count) {
    this.random = random;
    step = pageBytes / count;
    stepAt = page;
    place = page + random.nextLong(step);
  }

  /** How many lie in a record; those before it are passed over. */
  int in(long address, long endAddress) {
    int found = 0;
    while (place < endAddress) {
      found += place >= address ? 1 : 0;
      stepAt += step;
      place = stepAt + random.nextLong(step);
    }
    return found;
  }
}

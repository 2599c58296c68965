package io.fasterkv.compaction;

import java.util.SplittableRandom;

/**
 * Chooses random places on a page, one in each of its equal steps, since records may be of regular
 * size. Every byte is equally likely, so a record counts by its length. The page's records must be
 * passed in the order of their addresses.
 */
final class PagePlaces {
  private final SplittableRandom random;
  private final long step;
  private long stepAt;
  private long place;

  /**
   * @param page the page's first address
   * @param count number of places, at least one
   */
  PagePlaces(SplittableRandom random, long page, long pageBytes, int count) {
    this.random = random;
    step = pageBytes / count;
    stepAt = page;
    place = page + random.nextLong(step);
  }

  /** Number of places in a record; places before it are skipped. */
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

package io.fasterkv.log;

/**
 * How many frames have pages at a time: all, until the log gives memory up. Then pages go round all
 * of the buffer as before, and the frames that have none have no memory either: for each page that
 * is closed one frame loses its memory, and another gets some before the tail may come to it.
 *
 * <pre>
 *   closed                                closed + backed                closed + count
 *     | pages, and frames for the next ones | frames without memory ....... |
 * </pre>
 */
final class FrameWindow {
  /** Who needs a frame that is to be cleared waits as long as this takes. */
  private static final int RELEASED_TOGETHER = 16;

  private final PageFrames frames;

  /** How far the tail may be ahead of what is closed. */
  private volatile long pages;

  /** To how few the steps that make frames free keep the pages. */
  private volatile long keptPages;

  /** How many frames have memory, at least as many as may have pages; for who clears. */
  private long backed;

  FrameWindow(PageFrames frames) {
    this.frames = frames;
    pages = frames.count();
    keptPages = pages;
    backed = pages;
  }

  long pages() {
    return pages;
  }

  long keptPages() {
    return keptPages;
  }

  /** Has the head follow the tail more closely; the tail goes on as before. */
  void keep(long fewer) {
    keptPages = fewer;
  }

  /** From now on, for who asks again, the tail stays near. */
  void limit(long fewer) {
    pages = fewer;
  }

  /**
   * Takes the memory of some frames: all have seen {@link #limit}, the tail is within it, and
   * nobody clears meanwhile. Returns whether those that are left are no more than may have pages.
   *
   * @param closed the page below which all are closed
   */
  boolean release(long closed) {
    long fewer = Math.max(pages, backed - RELEASED_TOGETHER);
    for (long page = closed + fewer; page < closed + backed; page++) {
      frames.release(page);
    }
    backed = fewer;
    return fewer == pages;
  }

  /** Clears the frame of a page that nobody looks into any more; one caller at a time. */
  void clear(long page) {
    if (backed == frames.count()) {
      frames.clear(page);
    } else {
      frames.release(page);
      frames.clear(page + backed);
    }
  }
}

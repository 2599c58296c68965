package io.fasterkv.log;

/**
 * Limits how many frames have pages at a time: all of them, until the log gives up memory. Then
 * pages still rotate through the whole buffer, but frames without a page have no memory: for each
 * page that is closed, one frame loses its memory, and another frame receives memory before the
 * tail may reach it.
 *
 * <pre>
 *   closed                                closed + backed                closed + count
 *     | pages, and frames for the next ones | frames without memory ....... |
 * </pre>
 */
final class FrameWindow {
  /**
   * Frames released in one step. A thread that needs a clear frame waits no longer than one step.
   */
  private static final int RELEASED_TOGETHER = 16;

  private final PageFrames frames;

  /** Maximum number of pages from the closed address to the tail. */
  private volatile long pages;

  /** Number of pages that the steps which free frames aim to keep. */
  private volatile long keptPages;

  /** Number of frames with memory, at least {@link #pages}. Used only by the thread that clears. */
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

  /** Sets how closely the head follows the tail; the tail's limit stays. */
  void keep(long wanted) {
    keptPages = wanted;
  }

  /** Sets the tail's limit for every later check, at most to the number of frames with memory. */
  void limit(long wanted) {
    pages = wanted;
  }

  /**
   * Takes the memory of some frames. All threads must have seen {@link #limit}, the tail must be
   * within it, and no thread may be clearing. Returns whether the limit is reached.
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

  /** Clears the frame of a page that no thread uses any more; one caller at a time. */
  void clear(long page) {
    if (backed == frames.count()) {
      frames.clear(page);
    } else {
      frames.release(page);
      frames.clear(page + backed);
    }
  }
}

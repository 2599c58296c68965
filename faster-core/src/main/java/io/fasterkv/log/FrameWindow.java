package io.fasterkv.log;

/**
 * Limits how many frames have pages at a time. If these are not all frames, pages still rotate
 * through the whole buffer, but frames without a page have no memory: for each page that is closed,
 * one frame loses its memory, and another frame receives memory before the tail may reach it. The
 * log can release memory and get more, up to the whole buffer.
 *
 * <pre>
 *   closed                                closed + backed                closed + count
 *     | pages, and frames for the next ones | frames without memory ....... |
 * </pre>
 */
final class FrameWindow {
  /**
   * Frames that are changed in one step. A thread that needs a clear frame waits no longer than one
   * step.
   */
  private static final int CHANGED_TOGETHER = 16;

  private final PageFrames frames;

  /** Maximum number of pages from the closed address to the tail. */
  private volatile long pages;

  /** Number of pages that the steps which free frames aim to keep. */
  private volatile long keptPages;

  /** Number of frames with memory, at least {@link #pages}. Used only by the thread that clears. */
  private long backed;

  /**
   * @param first number of frames that have pages at first
   */
  FrameWindow(PageFrames frames, long first) {
    this.frames = frames;
    pages = first;
    keptPages = first;
    backed = first;
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
    long fewer = Math.max(pages, backed - CHANGED_TOGETHER);
    frames.prepareForRelease();
    for (long page = closed + fewer; page < closed + backed; page++) {
      frames.release(page);
    }
    backed = fewer;
    return fewer == pages;
  }

  /**
   * Gives memory to some frames without, up to {@code wanted} in all, and raises both limits by as
   * many. No thread may be clearing. Returns whether the limit is reached.
   *
   * @param closed the page below which all are closed
   */
  boolean raise(long closed, long wanted) {
    long more = Math.min(wanted, backed + CHANGED_TOGETHER);
    for (long page = closed + backed; page < closed + more; page++) {
      // Touches them, so that no writer has to.
      frames.clear(page);
    }
    backed = more;
    pages = more;
    keptPages = more;
    return more == wanted;
  }

  /** Clears the frame of a page that no thread uses any more; one caller at a time. */
  void clear(long page) {
    if (backed == frames.count()) {
      frames.clear(page);
    } else {
      frames.prepareForRelease();
      frames.release(page);
      frames.clear(page + backed);
    }
  }
}

package io.fasterkv.index;

import org.jspecify.annotations.Nullable;

/** A place in the index and the word that was read there. One thread's; used over and over. */
public final class IndexEntry {
  @Nullable IndexTable table;
  long offset;
  long word;

  /** The table that was entered. */
  IndexTable table() {
    IndexTable entered = table;
    if (entered == null) {
      throw new IllegalStateException("the entry was used before its hash was entered");
    }
    return entered;
  }

  /** The newest record of the chain, or 0 when the entry has none yet. */
  public long address() {
    return BucketLayout.address(word);
  }
}

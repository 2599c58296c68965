package io.fasterkv.index;

import org.jspecify.annotations.Nullable;

/** A position in the index and the word that was read there. Reusable. For one thread. */
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

  /** Address of the newest record of the chain; 0 if the entry has none yet. */
  public long address() {
    return BucketLayout.address(word);
  }
}

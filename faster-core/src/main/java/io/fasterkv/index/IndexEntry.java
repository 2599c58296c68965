package io.fasterkv.index;

/** A place in the index and the word that was read there. One thread's; used over and over. */
public final class IndexEntry {
  long offset;
  long word;

  /** The newest record of the chain, or 0 when the entry has none yet. */
  public long address() {
    return BucketLayout.address(word);
  }
}

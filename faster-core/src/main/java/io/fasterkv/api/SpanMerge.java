package io.fasterkv.api;

/** Merges values of any length; see {@link Merge} for the rules. */
public non-sealed interface SpanMerge extends Merge {

  /**
   * Computes how many bytes to allocate for a merged value.
   *
   * @param key the key
   * @param older the earlier part
   * @param newer the part that was written later
   * @return the number of bytes, at least the merged value's length
   */
  int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer);

  /**
   * Writes the merged value and sets its length.
   *
   * @param key the key
   * @param older the earlier part
   * @param newer the part that was written later
   * @param result receives the merged value
   */
  void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result);
}

package io.fasterkv.api;

/** Merges values of any length; see {@link Merge} for what it has to keep to. */
public non-sealed interface SpanMerge extends Merge {

  /** How many bytes to allocate for the merged value. */
  int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer);

  /** Writes the value that {@code older} and what came after it make together; sets its length. */
  void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result);
}

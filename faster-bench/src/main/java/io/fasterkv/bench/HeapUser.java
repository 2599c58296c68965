package io.fasterkv.bench;

/** A command that needs Java heap in proportion to its arguments. */
public interface HeapUser {
  /** Bytes of heap on top of what any program needs. */
  long heapBytes();
}

package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;

/** Reads what it needs from a record's value. */
@FunctionalInterface
public interface RecordReader {

  /** The span is valid only during the call; may be called several times for one read. */
  void read(ByteSpan value);
}

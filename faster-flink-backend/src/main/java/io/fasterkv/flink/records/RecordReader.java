package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Takes what it needs of a record's value. */
@FunctionalInterface
interface RecordReader {

  /** The span is valid during the call only; may be called again for the same read. */
  void read(ByteSpan value);
}

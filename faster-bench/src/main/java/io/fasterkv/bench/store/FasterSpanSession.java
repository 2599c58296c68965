package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.Values;

/** The base of sessions on values of any size, one at a time or in batches. */
abstract class FasterSpanSession implements BenchSession {
  final SpanCounts counts;
  final Session<Void, byte[], Void> session;
  final byte[] output;
  final ByteSpan key = ByteSpan.of(new byte[Long.BYTES]);
  final ByteSpan value;

  FasterSpanSession(FasterStore store, int valueBytes) {
    output = new byte[valueBytes];
    value = ByteSpan.of(new byte[valueBytes]);
    counts = new SpanCounts(valueBytes);
    // Blocking, so that an output can be reused.
    session = store.newSession().spans(counts);
  }

  @Override
  public final long fingerprints() {
    return counts.fingerprints;
  }

  @Override
  public final long get(long number) {
    key.putLong(0, number);
    return session.read(key, null, output, null) == Status.FOUND
        ? SpanValues.number(output)
        : Values.MISSING;
  }

  @Override
  public final void put(long number, long count) {
    key.putLong(0, number);
    value.putLong(0, count);
    session.upsert(key, value, null);
  }

  @Override
  public final void close() {
    session.close();
  }
}

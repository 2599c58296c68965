package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.bench.workload.Values;

/** The base of sessions on {@code long} keys, one at a time or in batches. */
abstract class FasterLongSession implements BenchSession {
  final LongSums sums = new LongSums();
  final LongSession<Void> session;

  FasterLongSession(FasterStore store) {
    session = store.newSession().mode(SessionMode.PENDING).longs(sums);
  }

  @Override
  public final void settle() {
    session.completePending(true);
  }

  @Override
  public final long fingerprints() {
    return sums.fingerprints;
  }

  @Override
  public final long get(long key) {
    Status status = session.read(key, null);
    if (status == Status.PENDING) {
      session.completePending(true);
      return sums.lastFound;
    }
    return status == Status.FOUND ? session.value() : Values.MISSING;
  }

  @Override
  public final void put(long key, long value) {
    session.upsert(key, value, null);
  }

  @Override
  public final void close() {
    session.close();
  }
}

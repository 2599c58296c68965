package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;

/** The base of the sessions of all peers, which never have pending operations. */
abstract class MapSession implements BenchSession {
  private long fingerprints;

  /** The sum of the fingerprints of what it reads. */
  abstract long readAll(long[] keys, int from, int to);

  abstract void upsertAll(long[] keys, long[] values, int from, int to);

  abstract void rmwAll(long[] keys, int from, int to);

  /** Like {@link #readAll}, for the part of a mix that is read. */
  abstract long mixAll(long[] keys, long[] values, int from, int to);

  @Override
  public final void read(KeyStream stream, int from, int to) {
    fingerprints += readAll(stream.keys(), from, to);
  }

  @Override
  public final void upsert(KeyStream stream, int from, int to) {
    upsertAll(stream.keys(), stream.values(), from, to);
  }

  @Override
  public final void rmw(KeyStream stream, int from, int to) {
    rmwAll(stream.keys(), from, to);
  }

  @Override
  public final void mix(KeyStream stream, int from, int to) {
    fingerprints += mixAll(stream.keys(), stream.values(), from, to);
  }

  @Override
  public final long fingerprints() {
    return fingerprints;
  }
}

package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.operation.SessionCore;
import java.util.List;

/** A counter of any length. */
final class SpanCounter extends Counter {
  static final byte[] KEY = {1, 2, 3, 4, 5, 6, 7, 8};

  private final List<SessionCore<Long, long[], Void>> sessions;
  private final List<ByteSpan> keys = List.of(ByteSpan.of(KEY), ByteSpan.of(KEY));

  SpanCounter(SmallStore store) {
    sessions = List.of(open(store), open(store));
  }

  private static SessionCore<Long, long[], Void> open(SmallStore store) {
    return SessionCore.spans(store.engine(), null, null, new SumFunctions(), SessionMode.BLOCKING);
  }

  @Override
  Status add(int actor) {
    return sessions.get(actor).rmw(keys.get(actor), 1L, null);
  }

  /** Adds one, which the record has no room for. */
  Status addAndGrow(int actor) {
    return sessions.get(actor).rmw(keys.get(actor), SumFunctions.GROWTH, null);
  }

  @Override
  void delete() {
    sessions.getFirst().delete(keys.getFirst(), null);
  }

  @Override
  long sum() {
    long[] output = new long[1];
    Status status = sessions.getFirst().read(keys.getFirst(), 0L, output, null);
    return status == Status.FOUND ? output[0] : -1;
  }
}

package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.operation.session.SessionCore;
import java.util.List;

/** A counter in a record of any length. */
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
    return sessions.get(actor).rmw(keys.get(actor), 1L, null, null);
  }

  /** Adds one and makes the value outgrow its record. */
  Status addAndGrow(int actor) {
    return sessions.get(actor).rmw(keys.get(actor), SumFunctions.GROWTH, null, null);
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

package io.fasterkv.stress;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.operation.session.LongKind;
import io.fasterkv.operation.session.SessionCore;
import java.util.List;

/** A counter of 8 bytes that always takes the slow path. */
final class LongCounter extends Counter {
  static final long KEY = 7;

  private final List<SessionCore<Void, Void, Void>> sessions;

  LongCounter(SmallStore store) {
    sessions = List.of(open(store), open(store));
  }

  private static SessionCore<Void, Void, Void> open(SmallStore store) {
    return SessionCore.longs(store.engine(), null, LongFunctions.sum(), SessionMode.BLOCKING);
  }

  @Override
  Status add(int actor) {
    return sessions.get(actor).runLong(LongKind.RMW, KEY, 1, null);
  }

  @Override
  void delete() {
    sessions.getFirst().runLong(LongKind.DELETE, KEY, 0, null);
  }

  @Override
  long sum() {
    SessionCore<Void, Void, Void> session = sessions.getFirst();
    Status status = session.runLong(LongKind.READ, KEY, 0, null);
    return status == Status.FOUND ? session.longOutput() : -1;
  }
}

package io.fasterkv.cpr;

import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Step;
import io.fasterkv.cpr.SumFunctions.Found;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Executes the steps of a {@link Script} for either kind of record. */
public interface StampedSession extends AutoCloseable {

  /**
   * Executes one step; returns whether it has ended. {@code found} receives the result of a read.
   */
  boolean perform(Step step, Found found);

  /** Executes steps of one kind, upserts or RMWs, as a batch; returns how many have not ended. */
  int batch(List<Step> steps);

  void completePending();

  /** The number of operations that the session has accepted. */
  long serial();

  @Override
  void close();

  private static boolean hasEnded(Step step, Status status) {
    boolean isAllowed =
        switch (step.kind()) {
          case READ, DELETE ->
              status == Status.FOUND || status == Status.NOT_FOUND || status == Status.PENDING;
          case UPSERT -> isWritten(status);
          case RMW -> isWritten(status) || status == Status.PENDING;
        };
    if (!isAllowed) {
      throw new IllegalStateException(step + " has ended with " + status);
    }
    return status != Status.PENDING;
  }

  private static boolean isWritten(Status status) {
    return switch (status) {
      case CREATED, UPDATED_IN_PLACE, COPIED, DELTA_APPENDED -> true;
      default -> false;
    };
  }

  private static int countPending(List<Step> steps, Status[] statuses) {
    int pending = 0;
    for (int i = 0; i < statuses.length; i++) {
      pending += hasEnded(steps.get(i), statuses[i]) ? 0 : 1;
    }
    return pending;
  }

  /** Values of any length. */
  final class Spans implements StampedSession {
    private final Session<Long, SumFunctions.Result, Found> session;
    private final SumFunctions functions;

    Spans(Session<Long, SumFunctions.Result, Found> session, SumFunctions functions) {
      this.session = session;
      this.functions = functions;
    }

    /** 8 to 26 bytes. */
    public static ByteSpan key(long key) {
      ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + (int) (key % 19));
      return ByteSpan.of(bytes.order(ByteOrder.nativeOrder()).putLong(0, key).array());
    }

    @Override
    public boolean perform(Step step, Found found) {
      ByteSpan key = key(step.key());
      SumFunctions.Result result = new SumFunctions.Result();
      Status status =
          switch (step.kind()) {
            case READ -> session.read(key, null, result, found);
            case UPSERT -> session.upsert(key, functions.value(step.key(), step.stamp()), null);
            case RMW -> session.rmw(key, step.stamp(), null);
            case DELETE -> session.delete(key, null);
          };
      boolean hasEnded = hasEnded(step, status);
      if (hasEnded && step.kind() == Kind.READ) {
        found.found(status == Status.FOUND ? result.sum : null);
      }
      return hasEnded;
    }

    @Override
    public int batch(List<Step> steps) {
      int count = steps.size();
      ByteSpan[] keys = new ByteSpan[count];
      ByteSpan[] values = new ByteSpan[count];
      Long[] inputs = new Long[count];
      for (int i = 0; i < count; i++) {
        Step step = steps.get(i);
        keys[i] = key(step.key());
        inputs[i] = step.stamp();
        values[i] = functions.value(step.key(), step.stamp());
      }
      Status[] statuses = new Status[count];
      if (steps.getFirst().kind() == Kind.UPSERT) {
        session.upsert(keys, values, statuses, count, null);
      } else {
        session.rmw(keys, inputs, statuses, count, null);
      }
      return countPending(steps, statuses);
    }

    @Override
    public void completePending() {
      session.completePending(true);
    }

    @Override
    public long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** The sum is stored as the value. */
  final class Longs implements StampedSession {
    private final LongSession<Found> session;

    Longs(LongSession<Found> session) {
      this.session = session;
    }

    /** Sums that report the value found. */
    public static MergeableLongFunctions<Found> functions() {
      LongFunctions<Found> sum = LongFunctions.sum();
      MergeableLongFunctions<Found> merge = LongFunctions.sum();
      return new MergeableLongFunctions<>() {
        @Override
        public long initialUpdater(long key, long input) {
          return sum.initialUpdater(key, input);
        }

        @Override
        public long updater(long key, long input, long oldValue) {
          return sum.updater(key, input, oldValue);
        }

        @Override
        public long merge(long key, long older, long newer) {
          return merge.merge(key, older, newer);
        }

        @Override
        public void completionCallback(Status status, long key, long value, Found found) {
          if (found != null) {
            found.found(status == Status.FOUND ? value : null);
          }
        }
      };
    }

    @Override
    public boolean perform(Step step, Found found) {
      Status status =
          switch (step.kind()) {
            case READ -> session.read(step.key(), found);
            case UPSERT -> session.upsert(step.key(), step.stamp(), null);
            case RMW -> session.rmw(step.key(), step.stamp(), null);
            case DELETE -> session.delete(step.key(), null);
          };
      boolean hasEnded = hasEnded(step, status);
      if (hasEnded && step.kind() == Kind.READ) {
        found.found(status == Status.FOUND ? session.value() : null);
      }
      return hasEnded;
    }

    @Override
    public int batch(List<Step> steps) {
      long[] keys = steps.stream().mapToLong(Step::key).toArray();
      long[] stamps = steps.stream().mapToLong(Step::stamp).toArray();
      Status[] statuses = new Status[keys.length];
      if (steps.getFirst().kind() == Kind.UPSERT) {
        session.upsert(keys, stamps, statuses, 0, keys.length, null);
      } else {
        session.rmw(keys, stamps, statuses, 0, keys.length, null);
      }
      return countPending(steps, statuses);
    }

    @Override
    public void completePending() {
      session.completePending(true);
    }

    @Override
    public long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }
}

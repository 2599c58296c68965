package io.fasterkv.bench.flink;

import java.io.EOFException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.Serializable;
import java.io.StringWriter;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one backend in a process of its own, as a task has it, so that what the JVM compiles and how
 * its heap is laid out depend on this backend only. It executes calls until its parent has ended.
 */
final class BackendWorker {
  private @Nullable Opened opened;

  private BackendWorker() {}

  /** The open backend, and the loops over its state. */
  private record Opened(
      FlinkPlan plan, StateData data, OpenBackend<Long> backend, StateLoops loops) {}

  /**
   * An answer.
   *
   * @param value the result of the call
   * @param failure the stack trace of the exception instead; empty if there is none
   */
  record Answer(@Nullable Object value, String failure) implements Serializable {}

  /** Answers the calls that arrive over a socket, whose address is the only argument. */
  public static void main(String[] arguments) throws Exception {
    BackendWorker worker = new BackendWorker();
    try (SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(arguments[0]));
        ObjectOutputStream answers = new ObjectOutputStream(Channels.newOutputStream(socket))) {
      answers.flush();
      ObjectInputStream calls = new ObjectInputStream(Channels.newInputStream(socket));
      while (true) {
        Answer answer = worker.answer((WorkerCall<?>) calls.readUnshared());
        // First: no unread object may be left when the socket is closed.
        answers.reset();
        answers.writeUnshared(answer);
        answers.flush();
      }
    } catch (EOFException nobodyAsks) {
      return;
    } finally {
      worker.close();
    }
  }

  private Answer answer(WorkerCall<?> call) {
    try {
      return new Answer(call.on(this), "");
    } catch (Exception | Error e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      return new Answer(null, trace.toString());
    }
  }

  private Opened opened() {
    if (opened == null) {
      throw new IllegalStateException("no backend is open");
    }
    return opened;
  }

  void open(WorkerCall.Open call) throws Exception {
    close();
    FlinkPlan plan = call.plan();
    StateData data = plan.data();
    OpenBackend<Long> backend =
        OpenBackend.open(
            call.kind(),
            LongSerializer.INSTANCE,
            OpenBackend.Slot.of(call.memoryBytes(), Path.of(call.directory())),
            TtlTime.STANDING,
            OpenBackend.wholeRange(),
            List.of());
    StateLoops loops = call.suite().loops(data, backend);
    opened = new Opened(plan, data, backend, loops);
    loops.load();
  }

  void close() throws Exception {
    if (opened != null) {
      opened.backend.close();
      opened = null;
    }
  }

  WorkerCall.Pass.Done pass(WorkerCall.Pass call) throws Exception {
    StateLoops loops = opened().loops;
    long begin = System.nanoTime();
    long sum = loops.run(call.row(), call.from(), call.to());
    loops.restore(call.row(), call.from(), call.to());
    return new WorkerCall.Pass.Done(sum, System.nanoTime() - begin);
  }

  /** Runs the rest of a warm-up; the state is restored after each pass. */
  void warmOn(WorkerCall.WarmOn call) throws Exception {
    StateRow row = call.row();
    if (row.leavesChanges()) {
      // Turns have different lengths, and the state must be the same after any of them.
      pass(new WorkerCall.Pass(row, call.calls(), opened().data.size()));
    }
    long spent = call.spentNanos();
    while (spent < opened().plan.warmNanos()) {
      spent += pass(new WorkerCall.Pass(row, 0, call.calls())).nanos();
    }
  }

  void reorder() {
    opened().data.reorder();
  }

  WorkerCall.Turn.Done turn(WorkerCall.Turn call) throws Exception {
    FlinkPlan plan = opened().plan;
    StateTurn turn = new StateTurn(plan, call, opened().loops);
    if (plan.turnNanos() > 0) {
      turn.warmUp();
    }
    return new WorkerCall.Turn.Done(turn.run(), turn.sums());
  }
}

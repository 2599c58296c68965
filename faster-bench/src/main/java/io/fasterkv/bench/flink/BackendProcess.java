package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.util.List;

/** A {@link BackendWorker} in a JVM with the options of this one. */
final class BackendProcess implements AutoCloseable {
  private final Backend kind;
  private final Process process;
  private final ObjectOutputStream calls;
  private final ObjectInputStream answers;

  private BackendProcess(Backend kind, Process process) throws IOException {
    this.kind = kind;
    this.process = process;
    calls = new ObjectOutputStream(process.getOutputStream());
    calls.flush();
    answers = new ObjectInputStream(process.getInputStream());
  }

  /** Starts it; what it prints goes where this one's errors go. */
  static BackendProcess start(Backend kind) throws IOException {
    List<String> options = ManagementFactory.getRuntimeMXBean().getInputArguments();
    Process process =
        new ProcessBuilder(Commands.java(BackendWorker.class, options, List.of()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      return new BackendProcess(kind, process);
    } catch (IOException e) {
      process.destroyForcibly();
      throw new IOException("the process of a backend did not start: backend=" + kind, e);
    }
  }

  Backend kind() {
    return kind;
  }

  /** What it has had of all processors, in nanoseconds. */
  long processorNanos() {
    return process.info().totalCpuDuration().orElseThrow().toNanos();
  }

  /**
   * Has a call made and returns its answer.
   *
   * @throws IOException if the call has failed, or the process has ended
   */
  @SuppressWarnings("unchecked") // The worker answers what the call's type says.
  <R> R call(WorkerCall<R> call) throws IOException {
    BackendWorker.Answer answer;
    try {
      calls.writeUnshared(call);
      calls.reset();
      calls.flush();
      answer = (BackendWorker.Answer) answers.readUnshared();
    } catch (IOException | ClassNotFoundException e) {
      throw new IOException("the process of a backend has ended: backend=" + kind, e);
    }
    if (answer.value() == null) {
      throw new IOException(
          "a backend has failed: backend=" + kind + ", call=" + call + "\n" + answer.failure());
    }
    return (R) answer.value();
  }

  /** Lets it end by itself. */
  @Override
  public void close() throws IOException {
    calls.close();
    Commands.await(process);
  }
}

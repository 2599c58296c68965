package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.util.IOUtils;

/**
 * A {@link BackendWorker} in a JVM with the options of this one. They communicate over a socket
 * that only this user can reach, so output that JVM options cause is not mistaken for an answer.
 */
final class BackendProcess implements AutoCloseable {
  private final Backend kind;
  private final Child child;
  private final SocketChannel socket;
  private final ObjectOutputStream calls;
  private final ObjectInputStream answers;

  private BackendProcess(Backend kind, Child child, SocketChannel socket) throws IOException {
    this.kind = kind;
    this.child = child;
    this.socket = socket;
    calls = new ObjectOutputStream(Channels.newOutputStream(socket));
    calls.flush();
    answers = new ObjectInputStream(Channels.newInputStream(socket));
  }

  /** A process, and the thread that forwards its output. */
  private record Child(Process process, Thread printer) {
    static Child of(Process process) {
      // A platform thread: it blocks in the system for the lifetime of the process.
      return new Child(
          process,
          Thread.ofPlatform()
              .daemon()
              .name("bench-output-" + process.pid())
              .start(() -> process.inputReader().lines().forEach(System.err::println)));
    }

    /** Waits for its end and its last output; returns its exit code. */
    int await() throws IOException {
      int exit = Commands.await(process);
      try {
        printer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while a program ended", e);
      }
      return exit;
    }

    void destroy() throws IOException {
      process.destroyForcibly();
      await();
    }
  }

  /** Starts it with the options of this JVM. */
  static BackendProcess start(Backend kind) throws IOException {
    return start(kind, ManagementFactory.getRuntimeMXBean().getInputArguments());
  }

  /** Starts it with options for the JVM; its output goes to this one's error output. */
  static BackendProcess start(Backend kind, List<String> options) throws IOException {
    Path directory = Files.createTempDirectory("faster-bench-");
    Path address = directory.resolve("calls");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(address));
      List<String> arguments = List.of(address.toString());
      Process process =
          new ProcessBuilder(Commands.java(BackendWorker.class, options, arguments))
              .redirectErrorStream(true)
              .start();
      // Ends the wait if the process ends before it connects.
      process.onExit().thenRun(() -> IOUtils.closeQuietly(server));
      return connected(kind, Child.of(process), server);
    } finally {
      Files.deleteIfExists(address);
      Files.deleteIfExists(directory);
    }
  }

  private static BackendProcess connected(Backend kind, Child child, ServerSocketChannel server)
      throws IOException {
    SocketChannel socket = null;
    try {
      socket = server.accept();
      return new BackendProcess(kind, child, socket);
    } catch (IOException e) {
      IOUtils.closeQuietly(socket);
      child.destroy();
      throw new IOException("the process of a backend did not start: backend=" + kind, e);
    }
  }

  Backend kind() {
    return kind;
  }

  /** Its processor time, in nanoseconds. */
  long processorNanos() {
    return child.process().info().totalCpuDuration().orElseThrow().toNanos();
  }

  /**
   * Makes a call and returns its answer.
   *
   * @throws IOException if the call has failed, or the process has ended
   */
  @SuppressWarnings("unchecked") // The call's type says what the worker answers.
  <R> R call(WorkerCall<R> call) throws IOException {
    BackendWorker.Answer answer;
    try {
      calls.writeUnshared(call);
      calls.reset();
      calls.flush();
      answer = (BackendWorker.Answer) answers.readUnshared();
    } catch (IOException | ClassNotFoundException e) {
      child.destroy();
      throw new IOException("the process of a backend has ended: backend=" + kind, e);
    }
    if (answer.value() == null) {
      throw new IOException(
          "a backend has failed: backend=" + kind + ", call=" + call + "\n" + answer.failure());
    }
    return (R) answer.value();
  }

  /**
   * Tells it to end, and waits.
   *
   * @throws IOException if it has not ended normally
   */
  @Override
  public void close() throws IOException {
    if (socket.isOpen()) {
      try {
        socket.shutdownOutput();
      } catch (IOException e) {
        child.destroy();
      }
      int exit = child.await();
      socket.close();
      if (exit != 0) {
        throw new IOException(
            "the process of a backend has not ended well: backend=" + kind + ", exit=" + exit);
      }
    }
  }
}

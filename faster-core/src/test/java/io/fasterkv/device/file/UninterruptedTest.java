package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests file operations by a thread that is interrupted in each of them. */
class UninterruptedTest {
  private static final byte[] BYTES = {1, 2, 3};

  @TempDir Path directory;

  private Thread caller;
  private final AtomicInteger attempts = new AtomicInteger();

  /** If the interrupted thread itself retried, it would do so for ever. */
  @Test
  void aThreadInterruptedInEachStepCompletes() throws IOException {
    caller = Thread.currentThread();
    Path file = directory.resolve("file");
    Uninterrupted.run(() -> {
      interruptTheCaller();
      try (FileChannel channel = DurableFiles.openReadWrite(file)) {
        Transfers.writeFully(channel, MemorySegment.ofArray(BYTES), 0);
      }
    });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Files.readAllBytes(file)).isEqualTo(BYTES);
    assertThat(attempts).hasValue(2);
  }

  @Test
  void aFailureThereIsTheCallers() {
    caller = Thread.currentThread();
    assertThatThrownBy(() ->
            Uninterrupted.run(() -> {
              interruptTheCaller();
              Path file = Files.write(directory.resolve("short"), BYTES);
              try (FileChannel channel = DurableFiles.openExisting(file)) {
                Transfers.readFully(channel, MemorySegment.ofArray(new byte[4]), 0);
              }
            }))
        .isInstanceOf(EOFException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(attempts).hasValue(2);
  }

  @Test
  void aThreadThatFindsItsFileClosedRetries() throws IOException {
    caller = Thread.currentThread();
    Uninterrupted.run(() -> {
      assertThat(Thread.currentThread()).isSameAs(caller);
      if (attempts.incrementAndGet() < 4) {
        throw new AsynchronousCloseException();
      }
    });
    assertThat(Thread.interrupted()).isFalse();
    assertThat(attempts).hasValue(4);
  }

  private void interruptTheCaller() {
    attempts.incrementAndGet();
    if (Thread.currentThread() == caller) {
      caller.interrupt();
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.DurableFiles;
import io.fasterkv.device.file.FileDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a truncation that removes a segment while another thread is about to open the segment's
 * file.
 */
class SegmentRemovalTest {
  private static final int SEGMENT_BYTES = 1 << 16;
  private static final int SECTOR_BYTES = 4096;

  @TempDir Path directory;

  @Test
  void aForceDoesNotBringARemovedSegmentBack() {
    run(Force.class, "io.fasterkv.device.file.SegmentFiles", "with");
  }

  @Test
  void aReadDoesNotKeepARemovedSegmentOpen() {
    run(Read.class, DurableFiles.class.getName(), "openExisting");
  }

  @SuppressWarnings("unchecked")
  private void run(Class<? extends Consumer<Path>> scenario, String hooked, String method) {
    ((Consumer<Path>) HookedClasses.create(scenario, Consumer.class, hooked, method))
        .accept(directory);
  }

  /**
   * Truncates while a thread is paused; waits for the truncation if that thread does not block it.
   */
  private static void truncateBeside(Pause pause, LogDevice device) {
    Thread truncation =
        Pause.begin(() -> {
          try {
            device.truncate(SEGMENT_BYTES);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    while (truncation.isAlive() && truncation.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    pause.finish();
    Pause.join(truncation);
  }

  private static FileDevice direct(Path directory) {
    try {
      return FileDevice.direct(directory, SEGMENT_BYTES);
    } catch (IOException e) {
      return abort("no direct I/O in " + directory + ": " + e.getMessage());
    }
  }

  private static void write(LogDevice device, long address) {
    CompletableFuture<IOException> done = new CompletableFuture<>();
    device.write(address, Arena.ofAuto().allocate(SECTOR_BYTES, SECTOR_BYTES), done::complete);
    assertThat(done.join()).isNull();
  }

  /** The force has found the segment written, and has not opened its file. */
  static final class Force implements Consumer<Path> {
    @Override
    public void accept(Path directory) {
      try (FileDevice device = direct(directory)) {
        write(device, 0);
        write(device, SEGMENT_BYTES);
        Pause pause = new Pause();
        pause.start(() -> {
          Hook.stopBefore(pause);
          force(device);
        });
        truncateBeside(pause, device);
        assertThat(directory.resolve("log.0")).doesNotExist();
        assertThat(directory.resolve("log.1")).exists();
        force(device);
        assertThat(directory.resolve("log.0")).doesNotExist();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void force(LogDevice device) {
      try {
        device.force();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The read has opened the file, and no other thread knows of the open file. */
  static final class Read implements Consumer<Path> {
    @Override
    public void accept(Path directory) {
      try (FileDevice first = new FileDevice(directory, SEGMENT_BYTES)) {
        write(first, 0);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      try (FileDevice device = new FileDevice(directory, SEGMENT_BYTES)) {
        Pause pause = new Pause();
        pause.start(() -> {
          Hook.stopAfter(pause);
          tryRead(device);
        });
        truncateBeside(pause, device);
        assertThatThrownBy(() -> device.readNow(0, MemorySegment.ofArray(new byte[8])))
            .isInstanceOf(NoSuchFileException.class);
        assertThat(openFiles(directory)).isZero();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void tryRead(LogDevice device) {
      try {
        device.readNow(0, MemorySegment.ofArray(new byte[8]));
      } catch (NoSuchFileException removed) {
        // Both outcomes are correct while the segment is being removed.
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static long openFiles(Path directory) throws IOException {
      long count = 0;
      try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
        for (Path descriptor : descriptors) {
          try {
            count += Files.readSymbolicLink(descriptor).startsWith(directory) ? 1 : 0;
          } catch (NoSuchFileException closed) {
            // The file was closed in the meantime.
          }
        }
      }
      return count;
    }
  }
}

package io.fasterkv.bench.slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
class SlowFileSystemTest {
  private static final int BYTES = 2_000_000;

  @TempDir private java.nio.file.Path directory;

  private final byte[] content = content();

  private static byte[] content() {
    byte[] content = new byte[BYTES];
    new Random(1).nextBytes(content);
    return content;
  }

  private Path file() {
    return SlowFileSystem.path(directory.resolve("file"));
  }

  private void write() throws IOException {
    try (FSDataOutputStream out = file().getFileSystem().create(file(), WriteMode.NO_OVERWRITE)) {
      out.write(content);
    }
  }

  private static long millisSince(long beginNanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
  }

  @Test
  void flinkFindsItByItsSchemeAndFilesHoldWhatWasWritten() throws IOException {
    assertThat(file().getFileSystem()).isInstanceOf(SlowFileSystem.class);
    write();

    assertThat(directory.resolve("file")).hasBinaryContent(content);
    try (FSDataInputStream in = file().getFileSystem().open(file())) {
      in.seek(BYTES / 2);
      assertThat(in.readNBytes(3))
          .isEqualTo(
              new byte[] {content[BYTES / 2], content[BYTES / 2 + 1], content[BYTES / 2 + 2]});
    }
  }

  @Test
  void aStreamTakesAtLeastTheTimeOfItsConnectionAndItsBandwidth() throws IOException {
    long atLeast = SlowFileSystem.OPEN_MILLIS + 1_000L * BYTES / SlowFileSystem.BYTES_PER_SECOND;
    long begin = System.nanoTime();
    write();
    // Tolerates what the buffers absorb, and the last wait, which is too short to be exact.
    assertThat(millisSince(begin)).isGreaterThanOrEqualTo(atLeast - 4);

    begin = System.nanoTime();
    try (FSDataInputStream in = file().getFileSystem().open(file())) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    assertThat(millisSince(begin)).isGreaterThanOrEqualTo(atLeast - 4);
  }

  @Test
  void aSeekBackTakesAConnection() throws IOException {
    Files.write(directory.resolve("file"), content);
    try (FSDataInputStream in = file().getFileSystem().open(file())) {
      in.skipNBytes(10);
      long begin = System.nanoTime();
      in.seek(0);
      assertThat(millisSince(begin)).isGreaterThanOrEqualTo(SlowFileSystem.OPEN_MILLIS);
    }
  }

  @Test
  void trafficCountsStreamsAndBytes() throws IOException {
    Files.write(directory.resolve("file"), content);
    Traffic traffic = SlowFileSystem.traffic();
    traffic.reset();
    try (FSDataInputStream one = file().getFileSystem().open(file());
        FSDataInputStream other = file().getFileSystem().open(file())) {
      one.readNBytes(100);
      other.readNBytes(11);
      assertThat(traffic.openStreams()).isEqualTo(2);
    }
    assertThat(traffic.openStreams()).isZero();
    assertThat(traffic.mostStreams()).isEqualTo(2);
    assertThat(traffic.readBytes()).isEqualTo(111);
  }

  @Test
  void aStreamThatIsClosedEndsTheWaitOfItsReader() throws Exception {
    Files.write(directory.resolve("file"), new byte[100_000_000]);
    FSDataInputStream in = file().getFileSystem().open(file());
    CountDownLatch started = new CountDownLatch(1);
    AtomicReference<Throwable> ended = new AtomicReference<>();
    Thread reader =
        Thread.ofPlatform()
            .start(() -> {
              started.countDown();
              try {
                in.readAllBytes();
              } catch (Throwable failure) {
                ended.set(failure);
              }
            });
    started.await();
    in.close();
    assertThat(reader.join(java.time.Duration.ofSeconds(30))).isTrue();
    assertThat(ended.get()).isInstanceOf(IOException.class);
    assertThatThrownBy(in::read).isInstanceOf(IOException.class);
  }
}

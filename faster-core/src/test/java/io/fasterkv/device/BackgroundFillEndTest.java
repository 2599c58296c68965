package io.fasterkv.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Pause;
import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BackgroundFillEndTest {
  private static final int BYTES = 64 << 10;

  /** The disk hangs in a write of the fill's buffer, which cannot be freed then. */
  @Test
  void aDeviceIsClosedWhileAWriteOfTheFillHangs() throws Exception {
    HangingDisk disk = new HangingDisk();
    BorrowingDevice device = new BorrowingDevice(disk, new Zeros());
    device.start();
    Pause.await(disk.writing);
    device.close();
    assertThat(disk.isClosed).isTrue();
    disk.release();
    Pause.await(disk.written);
  }

  /** One file of zeros. */
  private static final class Zeros implements LogOrigin, LogOrigin.File {
    @Override
    public List<Zeros> files() {
      return List.of(this);
    }

    @Override
    public List<LogPiece> pieces() {
      return List.of(new LogPiece(0, BYTES, 0));
    }

    @Override
    public int blockBytes() {
      return BYTES;
    }

    @Override
    public int blockCrc(int piece, int block) {
      return Checksums.crc32c(MemorySegment.ofArray(new byte[BYTES]));
    }

    @Override
    public boolean hasDigest() {
      return false;
    }

    @Override
    public void readDigest(DigestVisitor visitor) {}

    @Override
    public void read(long address, MemorySegment target) {
      target.fill((byte) 0);
    }

    @Override
    public String place(long address) {
      return "address=" + address;
    }

    @Override
    public void close() {}
  }

  /**
   * Writes into a pipe that is full: as a file does, the pipe keeps the memory from being freed.
   */
  private static final class HangingDisk implements LogDevice {
    private final Pipe pipe = Pipe.open();
    private final CountDownLatch writing = new CountDownLatch(1);
    private final CountDownLatch written = new CountDownLatch(1);
    private boolean isClosed;

    HangingDisk() throws IOException {
      pipe.sink().configureBlocking(false);
      while (pipe.sink().write(ByteBuffer.allocate(BYTES)) > 0) {
        // Until it is full.
      }
      pipe.sink().configureBlocking(true);
    }

    @Override
    public int sectorBytes() {
      return 4096;
    }

    @Override
    public void write(long address, MemorySegment source, Completion completion) {
      Thread.ofPlatform()
          .daemon()
          .start(() -> {
            writing.countDown();
            completion.completed(write(source));
            written.countDown();
          });
    }

    private @Nullable IOException write(MemorySegment source) {
      try {
        pipe.sink().write(source.asByteBuffer());
        return null;
      } catch (IOException e) {
        return e;
      }
    }

    /** The write fails. */
    void release() throws IOException {
      pipe.source().close();
    }

    @Override
    public void read(long address, MemorySegment target, Completion completion) {
      completion.completed(new IOException("not read here"));
    }

    @Override
    public void readNow(long address, MemorySegment target) throws IOException {
      throw new IOException("not read here");
    }

    @Override
    public void force() {}

    @Override
    public void truncate(long address) {}

    @Override
    public String place(long address) {
      return "address=" + address;
    }

    @Override
    public void close() {
      isClosed = true;
    }

    @Override
    public void delete() {}
  }
}

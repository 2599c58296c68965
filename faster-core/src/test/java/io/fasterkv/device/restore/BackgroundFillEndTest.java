package io.fasterkv.device.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Pause;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BackgroundFillEndTest {
  private static final int BYTES = 64 << 10;
  private static final int SCRATCH_BYTES = 1 << 20;

  /** The disk hangs in a write from the fill's buffer, which is in use until the write ends. */
  @Tag("slow")
  @Test
  void aDeviceIsClosedWhileAWriteOfTheFillHangs() throws Exception {
    HangingDisk disk = new HangingDisk();
    LazyRestoreDevice device = new LazyRestoreDevice(disk, new Zeros(), System.getLogger("test"));
    try (OffHeapArena arena = new OffHeapArena(new MemoryBudget(SCRATCH_BYTES))) {
      BufferPool scratch = new BufferPool(arena, SCRATCH_BYTES);
      device.connect(new Scratch(scratch));
      device.start();
      Pause.await(disk.writing);
      device.close();
      assertThat(disk.isClosed).isTrue();
      assertThat(scratch.freeBytes()).isLessThan(SCRATCH_BYTES);
      disk.release();
      Pause.await(disk.written);
      Pause.until(() -> scratch.freeBytes() == SCRATCH_BYTES);
    }
  }

  /**
   * An operation that has read the last block stops while it marks the block as local. The fill
   * must not end with the block marked and the log reported as incomplete.
   */
  @Test
  void theFillIsCompleteWhileAnOperationMarksABlock() throws Exception {
    Pause pause = new Pause();
    LazyRestoreDevice device =
        new LazyRestoreDevice(new MemoryDevice(), new PausedMark(pause), System.getLogger("test"));
    try (OffHeapArena arena = new OffHeapArena(new MemoryBudget(SCRATCH_BYTES))) {
      device.connect(new Scratch(new BufferPool(arena, SCRATCH_BYTES)));
      pause.start(() -> {
        try {
          device.readNow(0, MemorySegment.ofArray(new byte[BYTES]));
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      });
      device.awaitWhole();
      assertThat(device.isWhole()).isTrue();
      assertThat(device.missingBytes()).isZero();
      pause.finish();
      assertThat(device.missingBytes()).isZero();
      device.close();
    }
  }

  /** Stops the first thread that calls {@code blockBytes()} while it marks a block. */
  private static final class PausedMark extends Zeros {
    private final Pause pause;
    private final AtomicBoolean isPaused = new AtomicBoolean();

    PausedMark(Pause pause) {
      this.pause = pause;
    }

    @Override
    public int blockBytes() {
      boolean isMark =
          StackWalker.getInstance()
              .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("setLocal")));
      if (isMark && isPaused.compareAndSet(false, true)) {
        pause.here();
      }
      return super.blockBytes();
    }
  }

  private record Scratch(BufferPool pool) implements LazyRestoreDevice.Store {
    @Override
    public long scratchBytes() {
      return pool.bytes();
    }

    @Override
    public MemorySegment take(int bytes) {
      return pool.take(bytes);
    }

    @Override
    public @Nullable MemorySegment tryTake(int bytes) {
      return pool.tryTake(bytes);
    }

    @Override
    public void give(MemorySegment buffer) {
      pool.give(buffer);
    }

    @Override
    public int heat(long address) {
      return 0;
    }

    @Override
    public void failed(Throwable cause) {}
  }

  /** One file of zeros. */
  private static class Zeros implements LogOrigin, LogOrigin.File {
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
   * Writes into a pipe that is full: like a write to a file, this keeps the memory from being
   * freed.
   */
  private static final class HangingDisk implements LogDevice {
    private final Pipe pipe = Pipe.open();
    private final CountDownLatch writing = new CountDownLatch(1);
    private final CountDownLatch written = new CountDownLatch(1);
    private boolean isClosed;

    HangingDisk() throws IOException {
      pipe.sink().configureBlocking(false);
      while (pipe.sink().write(ByteBuffer.allocate(BYTES)) > 0) {
        // Until the pipe is full.
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

    /** Makes the write fail. */
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

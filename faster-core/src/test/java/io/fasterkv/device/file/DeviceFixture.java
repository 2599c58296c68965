package io.fasterkv.device.file;

import io.fasterkv.device.LogDevice;
import io.fasterkv.memory.OffHeapArena;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A device in an empty directory, and its transfers as calls that wait for their end. */
public abstract class DeviceFixture {
  static final int SEGMENT_BYTES = 1 << 16;
  static final int SECTOR_BYTES = 4096;

  @TempDir Path directory;

  protected LogDevice device;

  /** The device under test. */
  protected abstract LogDevice device(Path directory, long segmentBytes) throws IOException;

  @BeforeEach
  void open() throws IOException {
    device = device(directory, SEGMENT_BYTES);
  }

  @AfterEach
  void close() throws IOException {
    device.close();
  }

  static long sector(int i) {
    return (long) i * SECTOR_BYTES % SEGMENT_BYTES;
  }

  void write(long address, MemorySegment source) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    device.write(address, source, failure -> complete(done, failure));
    await(done);
  }

  MemorySegment read(long address, int bytes) throws Exception {
    MemorySegment target = memory(bytes);
    CompletableFuture<Void> done = new CompletableFuture<>();
    device.read(address, target, failure -> complete(done, failure));
    await(done);
    return target;
  }

  static void complete(CompletableFuture<Void> done, IOException failure) {
    if (failure == null) {
      done.complete(null);
    } else {
      done.completeExceptionally(failure);
    }
  }

  static void await(Future<Void> done) throws Exception {
    done.get();
  }

  static MemorySegment memory(int bytes) {
    return Arena.ofAuto().allocate(bytes, OffHeapArena.PAGE_ALIGNMENT);
  }

  static MemorySegment random(int bytes, long seed) {
    MemorySegment memory = memory(bytes);
    SplittableRandom random = new SplittableRandom(seed);
    for (int at = 0; at < bytes; at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
    }
    return memory;
  }
}

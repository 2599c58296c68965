package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fasterkv.Pause;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.ReadQueue;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests all devices that store segments in files, however they transfer the bytes; some with memory
 * aligned for direct transfers.
 */
public abstract class SegmentDeviceContract extends DeviceFixture {
  private static final int READS = 300;
  private static final int DEPTH = 16;

  @Test
  void readsWhatItWroteInAnySegment() throws Exception {
    for (long address : new long[] {0, SECTOR_BYTES, 3L * SEGMENT_BYTES - SECTOR_BYTES}) {
      MemorySegment bytes = random(SECTOR_BYTES, address);
      write(address, bytes);
      assertThat(read(address, SECTOR_BYTES).mismatch(bytes)).isEqualTo(-1);
      assertThat(read(address + 7, 100).mismatch(bytes.asSlice(7, 100))).isEqualTo(-1);
    }
    assertThat(directory.resolve("log.0")).exists();
    assertThat(directory.resolve("log.1")).doesNotExist();
    assertThat(directory.resolve("log.2")).exists();
  }

  /** Uses the operating system's device that is always full, under the name of a segment. */
  @Test
  void saysWhenThereIsNoSpace() throws Exception {
    Path full = Path.of("/dev/full");
    assumeThat(full).exists();
    Files.createSymbolicLink(directory.resolve("log.1"), full);
    MemorySegment bytes = random(SECTOR_BYTES, 1);
    write(0, bytes);
    // Not a multiple of a unit, so not a direct transfer, which /dev/full does not support.
    assertThatThrownBy(() -> write(SEGMENT_BYTES, bytes.asSlice(0, 512)))
        .hasRootCauseInstanceOf(IOException.class)
        .hasStackTraceContaining(NoSpaceException.class.getName())
        .hasStackTraceContaining("No space left on device");
    Files.delete(directory.resolve("log.1"));
    assertThat(read(0, SECTOR_BYTES).mismatch(bytes)).isEqualTo(-1);
  }

  @Tag("slow")
  @Test
  void keepsFewFilesOpenHoweverManySegmentsThereAre() throws Exception {
    int segments = 4 * SegmentFiles.MOST_OPEN;
    for (long segment = 0; segment < segments; segment++) {
      write(segment * SEGMENT_BYTES, random(SECTOR_BYTES, segment));
    }
    device.force();
    MemorySegment target = memory(SECTOR_BYTES);
    try (ReadQueue queue = device.readQueue(DEPTH)) {
      for (long segment = 0; segment < segments; segment++) {
        long address = segment * SEGMENT_BYTES;
        MemorySegment bytes = random(SECTOR_BYTES, segment);
        assertThat(read(address, SECTOR_BYTES).mismatch(bytes)).isEqualTo(-1);
        queue.read(0, address, target);
        assertThat(queue.next(true)).isZero();
        assertThat(queue.failure()).isNull();
        assertThat(target.mismatch(bytes)).isEqualTo(-1);
      }
    }
    assertThat(openFiles()).isLessThanOrEqualTo(3L * SegmentFiles.MOST_OPEN);
  }

  private long openFiles() throws IOException {
    long count = 0;
    try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        try {
          count += Files.readSymbolicLink(descriptor).startsWith(directory) ? 1 : 0;
        } catch (NoSuchFileException e) {
          // The file was closed in the meantime.
        }
      }
    }
    return count;
  }

  @Test
  void takesAnyMemoryAndAnyRange() throws Exception {
    MemorySegment bytes = random(2 * SECTOR_BYTES, 6);
    MemorySegment heap = MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
    write(0, heap);
    assertThat(read(0, 2 * SECTOR_BYTES).mismatch(bytes)).isEqualTo(-1);
    MemorySegment odd = memory(SECTOR_BYTES + 8).asSlice(8);
    odd.copyFrom(bytes.asSlice(0, SECTOR_BYTES));
    write(SECTOR_BYTES, odd);
    assertThat(read(SECTOR_BYTES, SECTOR_BYTES).mismatch(odd)).isEqualTo(-1);
    MemorySegment target = MemorySegment.ofArray(new byte[100]);
    device.readNow(SECTOR_BYTES - 50, target);
    assertThat(target.asSlice(0, 50).mismatch(bytes.asSlice(SECTOR_BYTES - 50, 50))).isEqualTo(-1);
    assertThat(target.asSlice(50).mismatch(odd.asSlice(0, 50))).isEqualTo(-1);
  }

  @Test
  void manyTransfersAtATimeAreEachTheirOwn() throws Exception {
    MemorySegment bytes = random(SEGMENT_BYTES, 7);
    write(0, bytes);
    List<CompletableFuture<Void>> reads = new ArrayList<>();
    List<MemorySegment> targets = new ArrayList<>();
    for (int i = 0; i < READS; i++) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      MemorySegment target = memory(SECTOR_BYTES);
      device.read(sector(i), target, failure -> complete(done, failure));
      reads.add(done);
      targets.add(target);
    }
    for (int i = 0; i < READS; i++) {
      await(reads.get(i));
      assertThat(targets.get(i).mismatch(bytes.asSlice(sector(i), SECTOR_BYTES))).isEqualTo(-1);
    }
  }

  @Test
  void aQueueEndsEveryReadOnce() throws Exception {
    MemorySegment bytes = random(SEGMENT_BYTES, 9);
    write(0, bytes);
    write(SEGMENT_BYTES, bytes);
    SplittableRandom random = new SplittableRandom(10);
    try (ReadQueue queue = device.readQueue(DEPTH)) {
      assertThat(queue.next(true)).as("no read is in progress").isEqualTo(ReadQueue.NONE);
      MemorySegment[] targets = new MemorySegment[DEPTH];
      int[] sectors = new int[DEPTH];
      int underWay = 0;
      for (int reads = 0; reads < READS || underWay > 0; ) {
        int free = free(targets);
        if (free >= 0 && reads < READS && random.nextInt(3) > 0) {
          sectors[free] = random.nextInt(SEGMENT_BYTES / SECTOR_BYTES);
          targets[free] = memory(SECTOR_BYTES);
          queue.read(
              free, random.nextInt(2) * SEGMENT_BYTES + sector(sectors[free]), targets[free]);
          reads++;
          underWay++;
          continue;
        }
        int tag = queue.next(random.nextBoolean());
        if (tag != ReadQueue.NONE) {
          assertThat(queue.failure()).isNull();
          assertThat(targets[tag].mismatch(bytes.asSlice(sector(sectors[tag]), SECTOR_BYTES)))
              .isEqualTo(-1);
          targets[tag] = null;
          underWay--;
        }
      }
      assertThat(queue.next(true)).isEqualTo(ReadQueue.NONE);
    }
  }

  private static int free(MemorySegment[] targets) {
    for (int tag = 0; tag < targets.length; tag++) {
      if (targets[tag] == null) {
        return tag;
      }
    }
    return -1;
  }

  @Test
  void aQueueReportsFailedReads() throws Exception {
    write(0, random(SECTOR_BYTES, 11));
    try (ReadQueue queue = device.readQueue(DEPTH)) {
      queue.read(0, SEGMENT_BYTES, memory(SECTOR_BYTES));
      assertThat(queue.next(true)).isZero();
      assertThat(queue.failure()).isInstanceOf(NoSuchFileException.class);
      queue.read(1, 0, memory(2 * SECTOR_BYTES));
      assertThat(queue.next(true)).isEqualTo(1);
      assertThat(queue.failure()).isInstanceOf(EOFException.class);
      queue.read(0, SEGMENT_BYTES - SECTOR_BYTES, memory(2 * SECTOR_BYTES));
      assertThat(queue.next(true)).isZero();
      assertThat(queue.failure()).isNotNull();
      queue.read(0, 0, memory(SECTOR_BYTES));
      assertThat(queue.next(true)).isZero();
      assertThat(queue.failure()).as("an earlier failure is not reported again").isNull();
    }
  }

  /** Each new file may get the file descriptor of the one that was removed before. */
  @Test
  void aQueueReadsNoFileThatWasRemoved() throws Exception {
    try (ReadQueue queue = device.readQueue(DEPTH)) {
      for (int round = 0; round < 5; round++) {
        long address = (long) round * SEGMENT_BYTES;
        MemorySegment bytes = random(SECTOR_BYTES, 12 + round);
        write(address, bytes);
        MemorySegment target = memory(SECTOR_BYTES);
        queue.read(0, address, target);
        assertThat(queue.next(true)).isZero();
        assertThat(target.mismatch(bytes)).isEqualTo(-1);
        device.truncate(address + SEGMENT_BYTES);
        queue.read(0, address, target);
        assertThat(queue.next(true)).isZero();
        assertThat(queue.failure()).isInstanceOf(NoSuchFileException.class);
      }
    }
  }

  @Test
  void anInterruptEndsNoWaitOfAQueue() throws Exception {
    MemorySegment bytes = random(SECTOR_BYTES, 15);
    write(0, bytes);
    try (ReadQueue queue = device.readQueue(DEPTH)) {
      for (int i = 0; i < READS; i++) {
        Thread.currentThread().interrupt();
        MemorySegment target = memory(SECTOR_BYTES);
        queue.read(0, 0, target);
        assertThat(queue.next(true)).isZero();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(queue.failure()).isNull();
        assertThat(target.mismatch(bytes)).isEqualTo(-1);
      }
    }
  }

  @Test
  void anInterruptEndsNoForce() throws Exception {
    for (int segment = 0; segment < 3; segment++) {
      write((long) segment * SEGMENT_BYTES, random(SECTOR_BYTES, segment));
    }
    Thread.currentThread().interrupt();
    device.force();
    assertThat(Thread.interrupted()).isTrue();
    for (int segment = 0; segment < 3; segment++) {
      assertThat(
              read((long) segment * SEGMENT_BYTES, SECTOR_BYTES)
                  .mismatch(random(SECTOR_BYTES, segment)))
          .isEqualTo(-1);
    }
  }

  @Test
  void aDeviceClosedUnderAQueueEndsItsReads() throws Exception {
    write(0, random(SEGMENT_BYTES, 16));
    ReadQueue queue = device.readQueue(DEPTH);
    for (int tag = 0; tag < DEPTH - 1; tag++) {
      queue.read(tag, sector(tag), memory(SECTOR_BYTES));
    }
    device.close();
    queue.read(DEPTH - 1, 0, memory(SECTOR_BYTES));
    Set<Integer> ended = new HashSet<>();
    for (int tag = queue.next(true); tag != ReadQueue.NONE; tag = queue.next(true)) {
      assertThat(ended.add(tag)).isTrue();
      if (tag == DEPTH - 1) {
        assertThat(queue.failure()).hasMessageContaining("closed");
      }
    }
    assertThat(ended).hasSize(DEPTH);
    queue.close();
  }

  /** All threads of the device are blocked, each in the completion of a write. */
  @Test
  void aWaitingThreadMayDoAWriteThatNoThreadHasStarted() throws Exception {
    MemorySegment bytes = random(SECTOR_BYTES, 17);
    CountDownLatch standing = new CountDownLatch(FileDevice.WRITERS);
    CountDownLatch mayContinue = new CountDownLatch(1);
    try {
      for (int i = 0; i < FileDevice.WRITERS; i++) {
        device.write(
            sector(i),
            bytes,
            failure -> {
              standing.countDown();
              Pause.await(mayContinue);
            });
      }
      Pause.await(standing);
      assertThat(device.writeOne()).as("all writes have begun").isFalse();
      CompletableFuture<Thread> by = new CompletableFuture<>();
      device.write(SEGMENT_BYTES, bytes, failure -> by.complete(Thread.currentThread()));
      Thread.currentThread().interrupt();
      assertThat(device.writeOne()).isTrue();
      assertThat(Thread.interrupted()).isTrue();
      assertThat(by).isCompletedWithValue(Thread.currentThread());
      assertThat(device.writeOne()).isFalse();
      assertThat(read(SEGMENT_BYTES, SECTOR_BYTES).mismatch(bytes)).isEqualTo(-1);
    } finally {
      mayContinue.countDown();
    }
  }

  @Test
  void closingWaitsForTransfersUnderWay() throws Exception {
    MemorySegment bytes = random(SEGMENT_BYTES, 8);
    List<CompletableFuture<Void>> writes = new ArrayList<>();
    for (int segment = 0; segment < 20; segment++) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      device.write((long) segment * SEGMENT_BYTES, bytes, failure -> complete(done, failure));
      writes.add(done);
    }
    device.close();
    for (CompletableFuture<Void> done : writes) {
      assertThat(done).as("ended before the close").isDone();
      await(done);
    }
  }

  @Test
  void opensNoFileOnceItIsClosed() throws Exception {
    write(0, random(SECTOR_BYTES, 1));
    device.close();
    assertThatThrownBy(() -> device.readNow(0, random(SECTOR_BYTES, 2)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void anotherDeviceReadsForcedBytes() throws Exception {
    MemorySegment bytes = random(SECTOR_BYTES, 1);
    write(SEGMENT_BYTES, bytes);
    device.force();
    try (LogDevice other = device(directory, SEGMENT_BYTES)) {
      MemorySegment target = memory(SECTOR_BYTES);
      other.readNow(SEGMENT_BYTES, target);
      assertThat(target.mismatch(bytes)).isEqualTo(-1);
    }
  }

  @Test
  void readingUnwrittenBytesIsAnError() throws Exception {
    assertThatThrownBy(() -> device.readNow(0, memory(8))).isInstanceOf(NoSuchFileException.class);
    assertThat(directory.resolve("log.0")).as("a read creates no file").doesNotExist();
    write(0, random(SECTOR_BYTES, 2));
    assertThatThrownBy(() -> device.readNow(SECTOR_BYTES - 4, memory(8)))
        .isInstanceOf(EOFException.class)
        .hasMessageContaining("position=" + SECTOR_BYTES);
    assertThatThrownBy(() -> read(SECTOR_BYTES, 8))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(EOFException.class);
  }

  @Test
  void aTransferAcrossSegmentsIsRefused() {
    assertThatThrownBy(() -> device.readNow(SEGMENT_BYTES - 4, memory(8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address=" + (SEGMENT_BYTES - 4) + ", bytes=8");
    assertThatThrownBy(() -> write(SEGMENT_BYTES - 4, memory(8)))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void truncationRemovesWholeSegmentsOnly() throws Exception {
    for (int segment = 0; segment < 3; segment++) {
      write((long) segment * SEGMENT_BYTES, random(SECTOR_BYTES, segment));
    }
    device.truncate(2L * SEGMENT_BYTES - 1);
    assertThat(directory.resolve("log.0")).doesNotExist();
    assertThat(directory.resolve("log.1")).exists();
    device.truncate(2L * SEGMENT_BYTES);
    assertThat(directory.resolve("log.1")).doesNotExist();
    assertThat(read(2L * SEGMENT_BYTES, SECTOR_BYTES).mismatch(random(SECTOR_BYTES, 2)))
        .isEqualTo(-1);
    assertThatThrownBy(() -> device.readNow(SEGMENT_BYTES, memory(8)))
        .isInstanceOf(NoSuchFileException.class);
    device.force();
    assertThat(directory.resolve("log.1")).as("a force creates no file").doesNotExist();
  }

  /** A power cut in the middle of a removal may leave a segment below one that was removed. */
  @Test
  void truncationRemovesSegmentsBelowAGap() throws Exception {
    for (int segment = 0; segment < 4; segment++) {
      write((long) segment * SEGMENT_BYTES, random(SECTOR_BYTES, segment));
    }
    Files.delete(directory.resolve("log.1"));
    device.truncate(3L * SEGMENT_BYTES);
    assertThat(directory.resolve("log.0")).doesNotExist();
    assertThat(directory.resolve("log.2")).doesNotExist();
    assertThat(directory.resolve("log.3")).exists();
  }

  @Test
  void placeNamesFileAndOffset() {
    assertThat(device.place(2L * SEGMENT_BYTES + 17))
        .isEqualTo("file=" + directory.resolve("log.2") + ", offset=17");
  }

  @Test
  void anInterruptOfOneReaderBreaksNoOther() throws Exception {
    MemorySegment bytes = random(SEGMENT_BYTES, 3);
    write(0, bytes);
    AtomicBoolean isOver = new AtomicBoolean();
    FutureTask<Integer> victim = new FutureTask<>(() -> readUntil(isOver, bytes, true));
    FutureTask<Integer> bystander = new FutureTask<>(() -> readUntil(isOver, bytes, false));
    Thread interrupted = Thread.ofPlatform().start(victim);
    Thread.ofPlatform().start(bystander);
    for (int i = 0; i < READS; i++) {
      interrupted.interrupt();
      assertThat(read(0, SEGMENT_BYTES).mismatch(bytes)).isEqualTo(-1);
    }
    isOver.set(true);
    assertThat(victim.get()).isPositive();
    assertThat(bystander.get()).isPositive();
  }

  @Test
  void anInterruptIsPutBackWhenTheTransferIsDone() throws Exception {
    MemorySegment bytes = random(SECTOR_BYTES, 4);
    write(0, bytes);
    MemorySegment target = memory(SECTOR_BYTES);
    Thread.currentThread().interrupt();
    device.readNow(0, target);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(target.mismatch(bytes)).isEqualTo(-1);
  }

  @Test
  void aClosedDeviceRefusesTransfersAndDeletesItsFiles() throws Exception {
    write(0, random(SECTOR_BYTES, 5));
    for (String other : List.of("other", "log.properties", "log.")) {
      Files.createFile(directory.resolve(other));
    }
    device.close();
    assertThatThrownBy(() -> read(0, 8))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("closed");
    device.delete();
    assertThat(directory.resolve("log.0")).doesNotExist();
    assertThat(directory.resolve("other")).exists();
    assertThat(directory.resolve("log.properties")).exists();
    assertThat(directory.resolve("log.")).exists();
  }

  private int readUntil(AtomicBoolean isOver, MemorySegment expected, boolean isVictim)
      throws IOException {
    MemorySegment target = memory(SEGMENT_BYTES);
    int reads = 0;
    do {
      device.readNow(0, target);
      assertThat(target.mismatch(expected)).isEqualTo(-1);
      assertThat(Thread.interrupted() && !isVictim).as("interrupt of another thread").isFalse();
      reads++;
    } while (!isOver.get());
    return reads;
  }
}

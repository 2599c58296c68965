package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests mapped reads. Each word of the log is its own address, so that a read from the wrong place
 * is detected.
 */
class MappedPiecesTest {
  private static final long SEGMENT_BYTES = 4L << 20;
  private static final long PIECE_BYTES = 1L << 20;
  private static final int PIECES = 2;
  private static final int READ_BYTES = 64;
  private static final int TIMES_TO_COMPILE = 100_000;

  @TempDir Path directory;

  private final MemorySegment target = Arena.ofAuto().allocate(MappedPieces.MOST_BYTES + 8, 8);
  private MappedPieces pieces;

  @BeforeEach
  void open() {
    assumeThat(MappedPieces.isPossible(directory)).isTrue();
    pieces = new MappedPieces(SEGMENT_BYTES, PIECE_BYTES, PIECES * PIECE_BYTES, this::path);
  }

  @AfterEach
  void close() {
    if (pieces != null) {
      pieces.close();
    }
  }

  private Path path(long segment) {
    return directory.resolve("log." + segment);
  }

  private void write(long from, long until) throws IOException {
    MemorySegment words = Arena.ofAuto().allocate(until - from, 8);
    for (long at = 0; at < until - from; at += Long.BYTES) {
      words.set(ValueLayout.JAVA_LONG, at, from + at);
    }
    try (FileChannel file =
        FileChannel.open(
            path(from / SEGMENT_BYTES), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      Transfers.writeFully(file, words, from % SEGMENT_BYTES);
    }
    pieces.written(from, until);
  }

  /** Whether the bytes were read; if so, checks that they belong to the address. */
  private boolean isRead(long address, long bytes, MemorySegment into) {
    into.fill((byte) -1);
    boolean isRead = pieces.read(address, into.asSlice(0, bytes));
    for (long at = 0; isRead && at < bytes; at += Long.BYTES) {
      assertThat(into.get(ValueLayout.JAVA_LONG, at)).isEqualTo(address + at);
    }
    return isRead;
  }

  private boolean isRead(long address) {
    return isRead(address, READ_BYTES, target);
  }

  private long mapped() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(directory.toString())).count();
    }
  }

  @Test
  void aPieceIsReadOnceAllOfItIsWritten() throws IOException {
    assertThat(isRead(0)).as("no file yet").isFalse();
    write(0, PIECE_BYTES / 2);
    assertThat(isRead(0)).isFalse();
    assertThat(mapped()).isZero();
    write(PIECE_BYTES / 2, PIECE_BYTES);
    assertThat(isRead(0)).isTrue();
    assertThat(isRead(PIECE_BYTES - READ_BYTES)).isTrue();
    assertThat(isRead(PIECE_BYTES)).isFalse();
    write(PIECE_BYTES, 2 * PIECE_BYTES + 8);
    assertThat(isRead(PIECE_BYTES)).isTrue();
    assertThat(isRead(PIECE_BYTES + 8, MappedPieces.MOST_BYTES, target)).isTrue();
    assertThat(mapped()).isPositive();
  }

  @Test
  void longReadsAndThoseOfTwoPiecesAreLeftToTheCaller() throws IOException {
    write(0, 2 * PIECE_BYTES);
    assertThat(isRead(0, MappedPieces.MOST_BYTES + 8, target)).isFalse();
    assertThat(isRead(PIECE_BYTES - 8, 16, target)).isFalse();
  }

  /** A mapped piece stays mapped, so that pieces that share a slot do not evict each other. */
  @Test
  void noMoreIsMappedThanIsAllowed() throws IOException {
    write(0, SEGMENT_BYTES);
    for (int round = 0; round < 2; round++) {
      assertThat(isRead(PIECE_BYTES)).isTrue();
      assertThat(isRead(2 * PIECE_BYTES)).isTrue();
      assertThat(isRead(0)).isFalse();
      assertThat(isRead(3 * PIECE_BYTES)).isFalse();
    }
  }

  @Test
  void removedSegmentsAreNotMapped() throws IOException {
    write(0, SEGMENT_BYTES);
    write(SEGMENT_BYTES, 2 * SEGMENT_BYTES);
    assertThat(isRead(0)).isTrue();
    assertThat(isRead(SEGMENT_BYTES + PIECE_BYTES)).isTrue();
    pieces.truncate(SEGMENT_BYTES);
    assertThat(isRead(0)).as("although the file still exists").isFalse();
    assertThat(isRead(SEGMENT_BYTES)).as("the slot is free").isTrue();
    assertThat(isRead(SEGMENT_BYTES + PIECE_BYTES)).isTrue();
    pieces.close();
    assertThat(isRead(SEGMENT_BYTES)).isFalse();
    assertThat(mapped()).isZero();
  }

  /** For example, when Flink cancels a task. */
  @Test
  void anInterruptedReadLeavesMappingAsItIs() throws Exception {
    write(0, SEGMENT_BYTES);
    assertThat(isRead(0)).isTrue();
    Thread.currentThread().interrupt();
    assertThat(isRead(PIECE_BYTES)).as("left to the caller").isFalse();
    assertThat(isRead(0)).as("it is mapped already").isTrue();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(isRead(PIECE_BYTES)).isTrue();
  }

  @Test
  void mappedPiecesAreUnmappedAfterAFailure() throws IOException {
    int before = MappedPieces.mappedInAll();
    write(0, SEGMENT_BYTES);
    assertThat(isRead(0)).isTrue();
    Files.createDirectory(path(1));
    assertThat(isRead(SEGMENT_BYTES + PIECE_BYTES)).as("a directory is not a file").isFalse();
    Files.delete(path(1));
    assertThat(isRead(PIECE_BYTES)).as("no more pieces are mapped").isFalse();
    assertThat(isRead(0)).isTrue();
    assertThat(MappedPieces.mappedInAll()).isEqualTo(before + 1);
    pieces.close();
    pieces.close();
    assertThat(mapped()).isZero();
    assertThat(MappedPieces.mappedInAll()).isEqualTo(before);
  }

  /** Also in compiled code, where the JVM throws at the next safepoint. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, TIMES_TO_COMPILE})
  void failedReadsAreLeftToTheCaller(int times) throws IOException {
    write(0, SEGMENT_BYTES);
    assertThat(countRead(0, PIECE_BYTES, times)).isEqualTo(times);
    try (FileChannel file = FileChannel.open(path(0), StandardOpenOption.WRITE)) {
      file.truncate(8192);
    }
    assertThat(countRead(8192, PIECE_BYTES, times)).isZero();
    assertThat(countRead(0, 8192, times)).isEqualTo(times);
  }

  private int countRead(long from, long until, int times) {
    SplittableRandom random = new SplittableRandom(from);
    MemorySegment slice = target.asSlice(0, READ_BYTES);
    int count = 0;
    for (int i = 0; i < times; i++) {
      count += pieces.read(random.nextLong(from, until - READ_BYTES) & -8, slice) ? 1 : 0;
    }
    return count;
  }

  @Test
  void aDeviceSaysWhyItCannotBeRead() throws Exception {
    write(0, SEGMENT_BYTES);
    try (FileDevice device =
        FileDevice.mapped(directory, SEGMENT_BYTES, PIECE_BYTES, PIECE_BYTES)) {
      device.readNow(8, target.asSlice(0, 8));
      assertThat(target.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(8);
      assertThat(mapped()).isPositive();
      try (FileChannel file = FileChannel.open(path(0), StandardOpenOption.WRITE)) {
        file.truncate(8192);
      }
      assertThatThrownBy(() -> device.readNow(16384, target.asSlice(0, 8)))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining("position=16384");
    }
    assertThat(mapped()).isZero();
  }

  /** Reads concurrent with writes and removals, in slots that several pieces use in turn. */
  @Tag("slow")
  @Test
  void readersSeeTheirAddressOrNothing() throws Exception {
    AtomicLong end = new AtomicLong();
    AtomicLong begin = new AtomicLong();
    AtomicBoolean isOver = new AtomicBoolean();
    List<FutureTask<Long>> readers = new ArrayList<>();
    for (int reader = 0; reader < 2; reader++) {
      long seed = reader;
      FutureTask<Long> task =
          new FutureTask<>(() -> read(new SplittableRandom(seed), begin, end, isOver));
      Thread.ofPlatform().start(task);
      readers.add(task);
    }
    for (long piece = 0; piece < 400; piece++) {
      write(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      end.set((piece + 1) * PIECE_BYTES);
      long removed = (piece - PIECES) * PIECE_BYTES & -SEGMENT_BYTES;
      if (removed > begin.get()) {
        begin.set(removed);
        pieces.truncate(removed);
        Files.delete(path(removed / SEGMENT_BYTES - 1));
      }
    }
    isOver.set(true);
    for (FutureTask<Long> reader : readers) {
      assertThat(reader.get()).as("mapped reads").isPositive();
    }
  }

  private long read(
      SplittableRandom random, AtomicLong begin, AtomicLong end, AtomicBoolean isOver) {
    MemorySegment into = Arena.ofAuto().allocate(READ_BYTES, 8);
    long reads = 0;
    while (!isOver.get()) {
      long from = begin.get();
      long until = end.get() - READ_BYTES;
      if (until > from) {
        reads += isRead(random.nextLong(from, until) & -Long.BYTES, READ_BYTES, into) ? 1 : 0;
      }
    }
    return reads;
  }
}

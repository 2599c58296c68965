package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.memory.Words;
import io.fasterkv.record.SpanRecord;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests large values on a disk that fails, is full, transfers too little, or returns other bytes.
 */
@Tag("seeds")
class LargeFaultTest {
  private static final int PAGE_BYTES = 4096;
  private static final int SEGMENT_BYTES = 4 * PAGE_BYTES;
  private static final int BYTES = 60_000;
  private static final int KEYS = 4;

  @TempDir Path directory;

  private SimulatedDisk disk = new SimulatedDisk();

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  private StoreConfig config() {
    return config(disk.directory());
  }

  private static StoreConfig config(Path path) {
    return builder(path).build();
  }

  private static StoreConfigBuilder builder(Path path) {
    return StoreConfig.builder(path)
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4 * PAGE_BYTES)
        .scratchBytes(1 << 20)
        .segmentBytes(SEGMENT_BYTES)
        .indexBytes(4096);
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(
      FasterStore store, SessionMode mode) {
    return store.newSession().mode(mode).spans(new BytesFunctions());
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static ByteSpan key(int number) {
    return ByteSpan.of(new byte[] {(byte) number, 1, 2});
  }

  private static byte[] read(Session<byte[], BytesFunctions.Result, Object> session, int number) {
    var result = new BytesFunctions.Result();
    Status status = session.read(key(number), null, result, null);
    if (status == Status.PENDING) {
      session.completePending(true);
      status = result.completed;
    }
    return status == Status.FOUND ? result.value : new byte[0];
  }

  private static void upsertAll(Session<byte[], BytesFunctions.Result, Object> session, int base) {
    for (int key = 0; key < KEYS; key++) {
      session.upsert(key(key), ByteSpan.of(bytes(BYTES + key, base + key)), null);
    }
  }

  private static void assertHas(FasterStore store, int base) {
    try (var session = session(store, SessionMode.BLOCKING)) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(Arrays.equals(read(session, key), bytes(BYTES + key, base + key))).isTrue();
      }
    }
  }

  /** Fails the write that crosses a given number of bytes from now on, and all later writes. */
  private static DiskFaults fullAfter(long room) {
    return new DiskFaults() {
      private long left = room;

      @Override
      public synchronized int beforeWrite(String file, long position, int bytes)
          throws IOException {
        left -= bytes;
        if (left < 0) {
          throw new IOException("No space left on device: " + file);
        }
        return bytes;
      }
    };
  }

  /** The disk becomes full while chunks are written, at any of them. */
  @Test
  void aDiskThatIsFullFailsTheOperationAndShowsNothingOfItsValue() {
    for (int room = 0; room < BYTES; room += 2 * PAGE_BYTES) {
      disk = new SimulatedDisk();
      StoreConfig impatient = builder(disk.directory()).spaceWaitMillis(0).build();
      try (FasterStore store = FasterStore.open(impatient);
          var session = session(store, SessionMode.BLOCKING)) {
        upsertAll(session, 10);
        store.checkpoints().take();
        disk.setFaults(fullAfter(room));
        byte[] other = bytes(4 * BYTES, 5);
        Throwable upsert = catchThrowable(() -> session.upsert(key(1), ByteSpan.of(other), null));
        assertFailedOnDisk(upsert, "No space left");
        assertFailedOnDisk(
            catchThrowable(() -> session.rmw(key(2), bytes(4 * BYTES, 6), null)), "No space left");
        assertFailedOnDisk(catchThrowable(store.checkpoints()::take), "No space left");
        // Even if there is space again: memory may be incomplete.
        disk.setFaults(DiskFaults.NONE);
        assertFailedOnDisk(
            catchThrowable(() -> session.upsert(key(1), ByteSpan.of(other), null)),
            "No space left");
        assertHas(store, 10);
        assertThat(Insides.engine(store).log().compactableUntil())
            .as("no writer is active")
            .isEqualTo(Insides.engine(store).log().flushedAddress());
      }
      try (FasterStore store = FasterStore.recover(config())) {
        assertHas(store, 10);
        StoreInvariants.check(store);
      }
    }
  }

  private static void assertFailedOnDisk(Throwable failure, String cause) {
    assertThat(failure).isInstanceOf(DeviceFailed.class);
    assertThat(failure)
        .hasMessageContaining("the store accepts no more writes")
        .hasMessageContaining("file=")
        .hasMessageContaining("offset=");
    assertThat(failure).rootCause().hasMessageContaining(cause);
  }

  /** Each read of a chunk fails once, and the next attempt always succeeds. */
  @ParameterizedTest
  @EnumSource(SessionMode.class)
  void aChunkThatCannotBeReadFailsItsOperationAndNoOther(SessionMode mode) {
    try (FasterStore store = FasterStore.open(config());
        var session = session(store, mode)) {
      upsertAll(session, 20);
      session.upsert(key(99), ByteSpan.of(bytes(5 * PAGE_BYTES, 1)), null);
      long free = Insides.engine(store).buffers().freeBytes();
      int failed = 0;
      for (boolean isOver = false; !isOver; ) {
        OneBrokenRead fault = new OneBrokenRead(failed);
        disk.setFaults(fault);
        Throwable seen = catchThrowable(() -> read(session, 0));
        isOver = seen == null;
        if (!isOver) {
          failed++;
          assertThat(Reported.cause(seen))
              .isInstanceOf(DeviceFailed.class)
              .hasMessageContaining("file=")
              .hasMessageContaining("offset=");
        }
        assertThat(fault.isMet).isEqualTo(!isOver);
        disk.setFaults(DiskFaults.NONE);
        assertThat(Arrays.equals(read(session, 0), bytes(BYTES, 20))).isTrue();
      }
      assertThat(failed).isGreaterThan(BYTES / PAGE_BYTES);
      if (mode == SessionMode.BLOCKING) {
        assertThat(Insides.engine(store).buffers().freeBytes()).isEqualTo(free);
      }
      StoreInvariants.check(store);
    }
  }

  /** Fails one read after some others. */
  private static final class OneBrokenRead implements DiskFaults {
    private int left;
    private boolean isMet;

    OneBrokenRead(int others) {
      left = others;
    }

    @Override
    public synchronized int beforeRead(String file, long position, int bytes) throws IOException {
      if (left-- == 0) {
        isMet = true;
        throw new IOException("Input/output error: " + file);
      }
      return bytes;
    }
  }

  /** Every transfer is cut short. */
  @ParameterizedTest
  @EnumSource(SessionMode.class)
  void shortTransfersAreContinued(SessionMode mode) {
    DiskFaults shortTransfers =
        new DiskFaults() {
          private int calls;

          @Override
          public synchronized int beforeWrite(String file, long position, int bytes) {
            return 1 + Math.floorMod(++calls * 997, bytes);
          }

          @Override
          public synchronized int beforeRead(String file, long position, int bytes) {
            return 1 + Math.floorMod(++calls * 991, bytes);
          }
        };
    disk.setFaults(shortTransfers);
    try (FasterStore store = FasterStore.open(config());
        var session = session(store, mode)) {
      upsertAll(session, 30);
      store.checkpoints().take();
      for (int key = 0; key < KEYS; key++) {
        assertThat(Arrays.equals(read(session, key), bytes(BYTES + key, 30 + key))).isTrue();
      }
    }
    try (FasterStore store = FasterStore.recover(config())) {
      assertHas(store, 30);
      store.log().compact();
      assertHas(store, 30);
    }
  }

  /**
   * A bit is flipped in the files of an open store, anywhere but in the headers of the four records
   * with the anchors. A read either reports the place or returns the correct value.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aFlippedBitIsAnErrorThatNamesThePlaceAndNeverAnotherValue(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (FasterStore store = FasterStore.open(config(directory));
        var blocking = session(store, SessionMode.BLOCKING);
        var pending = session(store, SessionMode.PENDING)) {
      upsertAll(blocking, 40);
      store.checkpoints().take();
      List<Long> anchors = addresses(store);
      int refused = 0;
      for (int round = 0; round < 200; round++) {
        long address = addressOutsideOfHeads(random, anchors);
        String file = "log." + address / SEGMENT_BYTES;
        long at = address % SEGMENT_BYTES;
        int bit = 1 << random.nextInt(8);
        flip(file, at, bit);
        int key = round % KEYS;
        byte[] expected = bytes(BYTES + key, 40 + key);
        String place = "seed " + seed + ", address " + address + ", bit " + bit;
        refused += isRightOrRefused(place, file, () -> read(blocking, key), expected) ? 0 : 1;
        refused += isRightOrRefused(place, file, () -> read(pending, key), expected) ? 0 : 1;
        if (round % 10 == 0) {
          isRightOrRefused(place, file, () -> scanned(store, key), expected);
        }
        flip(file, at, bit);
      }
      assertThat(refused).as("seed " + seed).isGreaterThan(50);
      assertHas(store, 40);
    }
  }

  /** The addresses of the records with the anchors of the large values. */
  private static List<Long> addresses(FasterStore store) {
    List<Long> addresses = new ArrayList<>();
    try (LogScan scan = store.log().scan(Versions.ALL)) {
      while (scan.next()) {
        addresses.add(scan.address());
      }
    }
    assertThat(addresses).hasSize(KEYS);
    return addresses;
  }

  /** A record's header and key have no checksum of their own, as for small values. */
  private static long addressOutsideOfHeads(SplittableRandom random, List<Long> anchors) {
    long headBytes = SpanRecord.INSTANCE.headerBytes() + Words.align(key(0).length());
    while (true) {
      long address = random.nextInt(SEGMENT_BYTES, 12 * SEGMENT_BYTES);
      if (anchors.stream().noneMatch(head -> address >= head && address < head + headBytes)) {
        return address;
      }
    }
  }

  private void flip(String file, long at, int bit) {
    try (var open = new RandomAccessFile(directory.resolve(file).toFile(), "rw")) {
      open.seek(at);
      int good = open.read();
      open.seek(at);
      open.write(good ^ bit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isRightOrRefused(
      String place, String file, Supplier<byte[]> read, byte[] expected) {
    try {
      assertThat(Arrays.equals(read.get(), expected)).as(place).isTrue();
      return true;
    } catch (Corrupt | OperationFailed e) {
      assertThat(Reported.cause(e))
          .as(place)
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining(file)
          .hasMessageContaining("offset=");
      return false;
    }
  }

  private static byte[] scanned(FasterStore store, int number) {
    byte[] found = {};
    try (LogScan scan = store.log().scan(Versions.ALL)) {
      while (scan.next()) {
        if (scan.key().toArray()[0] == number) {
          found = scan.value().toArray();
        }
      }
    }
    return found;
  }

  /** Any request may fail, one in a few hundred. Afterwards there is an intact checkpoint. */
  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aFailureAtAnyPointLeavesACheckpoint(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Integer> committed = new HashMap<>();
    for (int generation = 0; generation < 12; generation++) {
      disk.setFaults(DiskFaults.NONE);
      long newest = CheckpointNames.newest(disk);
      try (FasterStore store =
              newest == 0 ? FasterStore.open(config()) : FasterStore.recover(config());
          var session = session(store, SessionMode.BLOCKING)) {
        if (newest != 0) {
          assertHas(store, committed.get(newest));
          StoreInvariants.check(store);
        }
        disk.setFaults(new RandomFaults(random.split(), 400));
        for (int round = 0; ; round++) {
          int base = random.nextInt(1 << 20);
          upsertAll(session, base);
          if (round % 2 == 0) {
            store.log().compact();
          }
          committed.put(CheckpointNames.newest(disk) + 1, base);
          store.checkpoints().take();
        }
      } catch (StoreException e) {
        assertThat(e).as("seed " + seed).hasStackTraceContaining("by chance");
      } finally {
        disk.setFaults(DiskFaults.NONE);
      }
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.MemoryDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.log.HybridLog;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A disk without space: what must be on it fails, what must have room waits, nothing is lost, and
 * all goes on when there is space.
 */
@Timeout(120)
class FullDiskTest {
  private static final int PAGE_BYTES = 4096;
  private static final long FOR_EVER = Long.MAX_VALUE;

  @TempDir Path directory;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final Space space = new Space();

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  private StoreConfig.Builder config(RecordKind kind) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .logMemoryBytes(4 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(1 << 14)
        .scratchBytes(1 << 18)
        .segmentBytes(4 * PAGE_BYTES)
        .recordKind(kind);
  }

  private FasterStore open(StoreConfig.Builder config) {
    disk.setFaults(space);
    return FasterStore.open(config.build());
  }

  private static LongSession<Object> session(FasterStore store) {
    return store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING);
  }

  private static void add(LongSession<Object> session, int from, int until) {
    for (int key = from; key < until; key++) {
      session.upsert(key, key, null);
    }
  }

  private static void assertHas(LongSession<Object> session, int keys) {
    for (int key = 0; key < keys; key++) {
      assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(key);
    }
    assertThat(session.read(keys, null)).isEqualTo(Status.NOT_FOUND);
  }

  private void assertRecovers(int keys) {
    disk.setFaults(DiskFaults.NONE);
    try (FasterStore store = FasterStore.recover(config(RecordKind.LONGS).build());
        LongSession<Object> session = session(store)) {
      assertHas(session, keys);
      StoreInvariants.check(store);
    }
  }

  /**
   * Operations through times without space, with checkpoints that fail in between: in memory all is
   * as it would have been, and each recovery finds the last checkpoint that was complete.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void nothingIsLostWhenTheDiskWasFull(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    Map<Integer, byte[]> committed = new HashMap<>();
    int failed = 0;
    for (int generation = 0; generation < 3; generation++) {
      model = new HashMap<>(committed);
      StoreConfig config =
          config(RecordKind.SPANS).backgroundCompaction(random.nextBoolean()).build();
      disk.setFaults(space);
      try (FasterStore store =
              CheckpointNames.newest(disk) == 0
                  ? FasterStore.open(config)
                  : FasterStore.recover(config);
          ModelDriver driver =
              new ModelDriver(store, SessionMode.PENDING, random.split(), model, seed)) {
        driver.withLargeValues(random.nextBoolean() ? 20 : 0).checkAll();
        for (int round = 0; round < 5; round++) {
          space.refuse(random.nextInt(5), "log.");
          driver.someOperations(random.nextInt(600));
          space.refuse(FOR_EVER, random.nextBoolean() ? "log." : "");
          failed += tryCheckpoint(store, random) ? 0 : 1;
          space.refuse(random.nextInt(5), "log.");
          driver.someOperations(random.nextInt(300));
          driver.checkAll();
          space.refuse(0, "");
          store.checkpoint(request(random));
          committed = new HashMap<>(model);
          if (!config.backgroundCompaction()) {
            StoreInvariants.check(store);
          }
        }
        space.refuse(random.nextInt(5), "log.");
        driver.someOperations(random.nextInt(300));
        space.refuse(0, "");
      }
    }
    assertThat(failed).as("seed " + seed).isPositive();
    try (FasterStore store = FasterStore.recover(config(RecordKind.SPANS).build());
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, random, committed, seed)) {
      driver.checkAll();
      StoreInvariants.check(store);
    }
  }

  private boolean tryCheckpoint(FasterStore store, SplittableRandom random) {
    Throwable thrown = catchThrowable(() -> store.checkpoint(request(random)));
    if (thrown != null) {
      assertThat(thrown)
          .isInstanceOf(DiskFull.class)
          .hasMessageContaining("No space left on device")
          .hasMessageContaining("file=");
    }
    return thrown == null;
  }

  private static CheckpointRequest request(SplittableRandom random) {
    CheckpointKind kind = random.nextBoolean() ? CheckpointKind.FOLD_OVER : CheckpointKind.SNAPSHOT;
    return random.nextBoolean()
        ? CheckpointRequest.full(kind)
        : new CheckpointRequest(kind, random.nextBoolean());
  }

  /** Sessions on several threads, with checkpoints and exports, and a disk that comes and goes. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noIncrementIsLostWhenTheDiskIsFullNowAndThen(long seed) {
    int writers = 3;
    int keys = 2000;
    int rounds = 12;
    try (FasterStore store = open(config(RecordKind.LONGS).backgroundCompaction(true))) {
      Crew crew = new Crew("seed " + seed, () -> Insides.engine(store).log().toString());
      for (int writer = 0; writer < writers; writer++) {
        crew.add(() -> {
          try (LongSession<Object> session = session(store)) {
            for (int round = 0; round < rounds; round++) {
              for (int key = 0; key < keys; key++) {
                session.rmw(key, 1, null);
              }
            }
          }
        });
      }
      crew.add(() -> {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20; i++) {
          if (i % 2 == 0) {
            tryCheckpoint(store, random);
          } else {
            tryExport(store);
          }
          Thread.sleep(random.nextInt(20));
        }
      });
      crew.add(() -> {
        SplittableRandom random = new SplittableRandom(seed + 1);
        for (int i = 0; i < 15; i++) {
          space.refuse(FOR_EVER, "log.");
          Thread.sleep(random.nextInt(60));
          space.refuse(0, "");
          Thread.sleep(random.nextInt(20));
        }
      });
      crew.run();
      assertSums(store, keys, (long) writers * rounds);
      store.checkpoint();
    }
    try (FasterStore store = FasterStore.recover(config(RecordKind.LONGS).build())) {
      assertSums(store, keys, (long) writers * rounds);
      StoreInvariants.check(store);
    }
  }

  private static void tryExport(FasterStore store) {
    try (StoreExport export = store.export()) {
      Throwable thrown = catchThrowable(export::awaitWritten);
      if (thrown != null) {
        assertThat(thrown).isInstanceOf(DiskFull.class);
      }
    }
  }

  private static void assertSums(FasterStore store, int keys, long sum) {
    try (LongSession<Object> session = session(store)) {
      for (int key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key " + key).isEqualTo(sum);
      }
    }
  }

  @Test
  void anExportIsAskedAgainWhenThereIsSpace() {
    try (FasterStore store = open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      space.refuse(FOR_EVER, "log.");
      try (StoreExport export = store.export()) {
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(export::awaitWritten)
              .isInstanceOf(DiskFull.class)
              .hasMessageContaining("file=")
              .hasMessageContaining("offset=")
              .hasMessageContaining("No space left on device")
              .hasMessageContaining("free space");
        }
        add(session, 100, 200);
        space.refuse(0, "");
        export.awaitWritten();
        assertThat(export.pieces(0)).isNotEmpty();
      }
      store.checkpoint();
    }
    assertRecovers(200);
  }

  /** Nobody has to come by: what could not be written is written when it can be. */
  @Test
  void whatWasRefusedIsWrittenByItselfAndTheDiskIsNotAskedTooOften() throws Exception {
    try (FasterStore store = open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      long before = System.nanoTime();
      space.refuse(FOR_EVER, "log.");
      assertThatThrownBy(store::checkpoint).isInstanceOf(DiskFull.class);
      Thread.sleep(700);
      long refused = space.refused();
      // After 10, 30, 70, 150, 310 and 630 milliseconds, then each second, and for the checkpoint.
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - before);
      assertThat(refused).isBetween(2L, 8L + seconds);
      space.refuse(0, "");
      HybridLog log = Insides.engine(store).log();
      while (log.flushedAddress() < log.safeReadOnlyAddress()) {
        Thread.sleep(1);
      }
      assertHas(session, 100);
    }
  }

  @Test
  void whoWaitsForRoomTooLongIsToldWhyAndTheLastCheckpointIsThere() {
    try (FasterStore store = open(config(RecordKind.LONGS).spaceWaitMillis(200));
        LongSession<Object> session = session(store)) {
      add(session, 0, 500);
      store.checkpoint();
      space.refuse(FOR_EVER, "log.");
      long before = System.nanoTime();
      DeviceFailed failed = catchThrowableOfType(DeviceFailed.class, () -> add(session, 500, 9999));
      assertThat(System.nanoTime() - before).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(200));
      assertThat(failed)
          .hasMessageContaining("the store accepts no more writes")
          .hasMessageContaining("file=")
          .hasMessageContaining("offset=")
          .hasMessageContaining("waitedMillis=")
          .hasRootCauseMessage("No space left on device");
      space.refuse(0, "");
      assertThatThrownBy(() -> add(session, 500, 9999)).isInstanceOf(DeviceFailed.class);
      assertThatThrownBy(store::checkpoint).isInstanceOf(DeviceFailed.class);
      assertThatThrownBy(store::export).isInstanceOf(DeviceFailed.class);
      assertThat(session.read(1, null)).isEqualTo(Status.FOUND);
    }
    assertRecovers(500);
  }

  /**
   * Frames that are free and were not cleared yet are room, wherever in a batch of them it ends.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void nobodyWaitsForSpaceWhileThereIsAFrame(int extraPages) {
    int pages = 256;
    int perPage = PAGE_BYTES / 24;
    StoreConfig.Builder config =
        config(RecordKind.LONGS)
            .memoryBytes(4 << 20)
            .logMemoryBytes((long) pages * PAGE_BYTES)
            .mutableFraction(0)
            .spaceWaitMillis(0);
    try (FasterStore store = open(config);
        LongSession<Object> session = session(store)) {
      for (int i = 0; i < (2 * pages + extraPages) * perPage; i++) {
        session.upsert(i % perPage, i, null);
      }
      space.refuse(FOR_EVER, "log.");
      assertThatThrownBy(() -> add(session, 0, Integer.MAX_VALUE)).isInstanceOf(DeviceFailed.class);
      HybridLog log = Insides.engine(store).log();
      assertThat(log.tailAddress() - log.pageStart(log.flushedAddress()))
          .isGreaterThan((pages - 2L) * PAGE_BYTES);
    }
  }

  /** A full disk does not end a store that needs no room. */
  @Test
  void whoNeedsNoRoomGoesOnForEver() throws Exception {
    try (FasterStore store =
            open(config(RecordKind.LONGS).logMemoryBytes(64 * PAGE_BYTES).spaceWaitMillis(50));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      space.refuse(FOR_EVER, "log.");
      for (int i = 0; i < 5; i++) {
        assertThatThrownBy(store::checkpoint).isInstanceOf(DiskFull.class);
        Thread.sleep(40);
        session.upsert(i, i, null);
      }
      space.refuse(0, "");
      store.checkpoint();
    }
    assertRecovers(100);
  }

  /** Writers, compaction and checkpoints are in the store, and nobody has to wait for the bound. */
  @Test
  void closingDoesNotWaitForSpace() {
    FasterStore store =
        open(config(RecordKind.LONGS).spaceWaitMillis(600_000).backgroundCompaction(true));
    LongSession<Object> session = session(store);
    for (int round = 0; round < 20; round++) {
      add(session, 0, 3000);
    }
    space.refuse(FOR_EVER, "log.");
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread writer =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try {
                while (true) {
                  add(session, 0, 3000);
                }
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    while (writer.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    store.stopWaiting();
    Pause.join(writer);
    assertThat(thrown.get()).isInstanceOf(DeviceFailed.class);
    session.close();
    store.close();
  }

  /** Compaction may be the one who waits, and nobody else is there. */
  @Test
  void compactionThatWaitsForSpaceDoesNotKeepTheStoreOpen() {
    FasterStore store = open(config(RecordKind.LONGS).spaceWaitMillis(600_000));
    try (LongSession<Object> session = session(store)) {
      add(session, 0, 5000);
    }
    space.refuse(FOR_EVER, "log.");
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread compaction =
        Thread.ofPlatform().daemon().start(() -> thrown.set(catchThrowable(store::compact)));
    while (space.refused() < 4) {
      Thread.onSpinWait();
    }
    store.stopWaiting();
    Pause.join(compaction);
    assertThat(thrown.get()).isInstanceOf(DeviceFailed.class);
    store.close();
  }

  /** A device of the caller's says it by the kind of the exception; any other is for good. */
  @ParameterizedTest
  @EnumSource(Loss.class)
  void theModelCatchesAWriteThatIsForgotten(Loss loss) {
    LossyDevice device = new LossyDevice(loss);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Object> session = session(store)) {
      Throwable thrown =
          catchThrowable(() -> {
            add(session, 0, 5000);
            assertHas(session, 5000);
            store.checkpoint();
          });
      if (loss == Loss.NONE) {
        assertThat(thrown).isNull();
      } else {
        assertThat(thrown).isNotNull();
      }
    }
  }

  private enum Loss {
    /** A write without space is refused. */
    NONE,
    /** It counts as done: what a flusher would do that forgot it. */
    FORGOTTEN
  }

  /** Has no space for one write in three. */
  private static final class LossyDevice implements LogDevice {
    private final LogDevice device = new MemoryDevice();
    private final Loss loss;
    private int writes;

    LossyDevice(Loss loss) {
      this.loss = loss;
    }

    @Override
    public void write(long address, MemorySegment source, Completion completion) {
      boolean isWithout;
      synchronized (this) {
        isWithout = ++writes % 3 == 0;
      }
      if (isWithout) {
        completion.completed(
            loss == Loss.FORGOTTEN ? null : new NoSpaceException(new IOException("quota")));
      } else {
        device.write(address, source, completion);
      }
    }

    @Override
    public int sectorBytes() {
      return device.sectorBytes();
    }

    @Override
    public void read(long address, MemorySegment target, Completion completion) {
      device.read(address, target, completion);
    }

    @Override
    public void readNow(long address, MemorySegment target) throws IOException {
      device.readNow(address, target);
    }

    @Override
    public void force() {}

    @Override
    public void truncate(long address) throws IOException {
      device.truncate(address);
    }

    @Override
    public String place(long address) {
      return device.place(address);
    }

    @Override
    public void close() throws IOException {
      device.close();
    }

    @Override
    public void delete() throws IOException {
      device.delete();
    }
  }

  /** Refuses the next so many writes to files of a name. */
  private static final class Space implements DiskFaults {
    private String name = "";
    private long left;
    private long refused;

    synchronized void refuse(long writes, String toFiles) {
      name = toFiles;
      left = writes;
      refused = 0;
    }

    synchronized long refused() {
      return refused;
    }

    @Override
    public synchronized int beforeWrite(String file, long position, int bytes) throws IOException {
      if (left > 0 && file.contains(name)) {
        left--;
        refused++;
        throw new IOException("No space left on device");
      }
      return bytes;
    }
  }
}

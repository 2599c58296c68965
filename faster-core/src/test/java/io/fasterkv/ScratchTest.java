package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.sim.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests exhausted scratch memory: operations fail or wait, never hang, and return all of it. */
class ScratchTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 300;

  private final SimulatedDisk disk = new SimulatedDisk();

  private StoreConfigBuilder config() {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4L * PAGE_BYTES)
        .indexBytes(4096)
        .segmentBytes(4L * PAGE_BYTES);
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(FasterStore store) {
    return store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions());
  }

  private static void fill(Session<byte[], BytesFunctions.Result, Object> session, int bytes) {
    for (int key = 0; key < KEYS; key++) {
      session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[bytes]), null);
    }
  }

  private static Status read(Session<byte[], BytesFunctions.Result, Object> session, int key) {
    return session.read(ModelDriver.key(key), null, new BytesFunctions.Result(), null);
  }

  /** Records larger than the first read need buffers that are not available, so the reads fail. */
  @Test
  void aPendingReadThatFindsNoBufferFailsAndIsOver() {
    try (FasterStore store = FasterStore.open(config().scratchBytes(2 * PAGE_BYTES).build());
        var session = session(store)) {
      fill(session, 3000);
      List<LogScan> scans = new ArrayList<>();
      try (LogCut cut = store.log().cut()) {
        scans.add(cut.scan());
        assertThat(read(session, 0)).isEqualTo(Status.PENDING);
        assertThatThrownBy(() -> session.completePending(true))
            .isInstanceOf(OperationFailed.class)
            .hasCauseInstanceOf(OutOfBudget.class);
        assertThat(session.completePending(true)).isZero();
        scans.forEach(LogScan::close);
      }
      assertThat(read(session, 0)).isEqualTo(Status.PENDING);
      assertThat(session.completePending(true)).isZero();
    }
  }

  /** Many operations need a buffer of which there is only one, so they take turns. */
  @Test
  void pendingReadsThatWantMoreThanTheirFirstBuffersTakeTurns() {
    try (FasterStore store = FasterStore.open(config().scratchBytes(4 * PAGE_BYTES).build());
        var session = session(store)) {
      fill(session, 3000);
      List<BytesFunctions.Result> results = new ArrayList<>();
      for (int round = 0; round < 20; round++) {
        for (int key = 0; key < 6; key++) {
          BytesFunctions.Result result = new BytesFunctions.Result();
          results.add(result);
          session.read(ModelDriver.key(key), null, result, null);
        }
      }
      assertThat(session.completePending(true)).isZero();
      for (BytesFunctions.Result result : results) {
        assertThat(result.completed).isEqualTo(Status.FOUND);
        assertThat(result.value).hasSize(3000);
      }
    }
  }

  /** A session may request more than the scratch memory; it then waits for its own reads. */
  @Test
  void pendingReadsLeaveRoomForACheckpointAndAScan() {
    try (FasterStore store = FasterStore.open(config().build());
        var first = session(store);
        var second = session(store)) {
      fill(first, 300);
      for (int key = 0; key < KEYS; key++) {
        read(first, key);
        read(second, key);
      }
      assertThat(store.checkpoints().take().number()).isEqualTo(1);
      assertThat(first.completePending(true)).isZero();
      assertThat(second.completePending(true)).isZero();
      StoreInvariants.check(store);
    }
  }

  /** While other operations use all scratch memory, compaction waits; then it catches up. */
  @Test
  void compactionOutlastsAWantOfScratch() {
    StoreConfig config = config().deleteOnClose(true).backgroundCompaction(true).build();
    try (FasterStore store = FasterStore.open(config);
        var session = session(store)) {
      // From here on, the session has its own buffers.
      session.upsert(ModelDriver.key(0), ByteSpan.of(new byte[300]), null);
      // No run is in progress yet: a run would keep its memory and continue.
      List<MemorySegment> taken = takeAll(Insides.engine(store).buffers());
      for (int round = 0; round < 20; round++) {
        fill(session, 300 + round);
      }
      long before = store.statistics().logBytes();
      assertThat(store.statistics().compaction().passes()).isZero();
      taken.forEach(Insides.engine(store).buffers()::give);
      while (store.statistics().logBytes() >= before / 2) {
        // Throws if compaction has failed.
        read(session, 0);
        session.completePending(true);
      }
      for (int key = 0; key < KEYS; key++) {
        assertThat(read(session, key)).isIn(Status.FOUND, Status.PENDING);
      }
    }
  }

  private static List<MemorySegment> takeAll(BufferPool buffers) {
    List<MemorySegment> taken = new ArrayList<>();
    MemorySegment next = buffers.tryTake(BufferPool.MIN_BYTES);
    while (next != null) {
      taken.add(next);
      next = buffers.tryTake(BufferPool.MIN_BYTES);
    }
    return taken;
  }

  /**
   * Many large records need more memory than there is: reads wait, and all memory is returned
   * afterwards.
   */
  @Test
  void allScratchMemoryIsReturned() {
    try (FasterStore store = FasterStore.open(config().build())) {
      long free = Insides.engine(store).buffers().freeBytes();
      try (var session = session(store)) {
        fill(session, 1500);
        for (int key = 0; key < KEYS; key++) {
          assertThat(read(session, key)).isIn(Status.FOUND, Status.PENDING);
        }
        assertThat(session.completePending(true)).isZero();
      }
      assertThat(Insides.engine(store).buffers().freeBytes()).isEqualTo(free);
    }
  }
}

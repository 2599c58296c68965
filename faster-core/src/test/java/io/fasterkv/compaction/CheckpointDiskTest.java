package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Crew;
import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.Session;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a hot set that is overwritten continuously, with checkpoints and background compaction:
 * compares the bytes of all files in the directory with those of the live records.
 */
@Tag("long")
class CheckpointDiskTest {
  private static final int PAGE_BYTES = 4096;
  private static final long MEMORY = 4L * PAGE_BYTES;
  private static final int VALUE_BYTES = 480;
  private static final int RECORD_BYTES = 512;
  private static final int INDEX_BYTES = 32 << 10;
  private static final int KEYS = 2048;
  private static final long LIVE = (long) KEYS * RECORD_BYTES;

  /** One checkpoint in this many has an index image. */
  private static final int FULL_EVERY = 10;

  private static final int MEASURES = 2;

  /** How many times the live bytes are written. */
  private static final int ROTATIONS = 3;

  /** Two images of the index, a snapshot, two manifests and a segment that is not full. */
  private static final long CHECKPOINT_BYTES = 2 * INDEX_BYTES + 8L * PAGE_BYTES;

  private static final long PATIENCE_SECONDS = 100;

  @TempDir Path directory;

  private final AtomicLongArray sums = new AtomicLongArray(KEYS);
  private final Semaphore looks = new Semaphore(0);
  private final Deque<CheckpointToken> kept = new ArrayDeque<>();
  private final List<Session<Long, long[], Void>> sessions = new ArrayList<>();
  private StoreConfig config;
  private FasterStore store;
  private BackgroundCompaction compaction;

  /** The bytes written before writers must wait for compaction, without such a wait. */
  private long lagBytes;

  @BeforeEach
  void open() {
    config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(MEMORY)
            .pageBytes(PAGE_BYTES)
            .segmentBytes(4L * PAGE_BYTES)
            .indexBytes(INDEX_BYTES)
            .build();
    store = FasterStore.open(config);
    compaction =
        new BackgroundCompaction(
            Insides.engine(store), Insides.compactor(store), config, this::look);
    compaction.start();
  }

  @AfterEach
  void close() {
    sessions.forEach(Session::close);
    compaction.close();
    store.close();
  }

  /** The compaction thread has nothing to do, or nothing that it may do now. */
  private void look(long nanos) {
    looks.release();
    LockSupport.parkNanos(Math.min(nanos, 1_000_000));
  }

  /** Waits until compaction has checked the current log and left it unchanged. */
  private void awaitRest() throws InterruptedException {
    looks.drainPermits();
    assertThat(looks.tryAcquire(2, PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(compaction.failure()).isNull();
  }

  private void load() {
    sessions.add(store.newSession().spans(new Summing()));
    for (int key = 0; key < KEYS; key++) {
      write(0, key);
    }
  }

  private void write(int session, int key) {
    Status status = sessions.get(session).rmw(ByteSpan.of(bytes(key)), 1L, null);
    assertThat(status).isNotEqualTo(Status.PENDING);
    sums.incrementAndGet(key);
  }

  private static byte[] bytes(long key) {
    byte[] bytes = new byte[Long.BYTES];
    ByteSpan.of(bytes).putLong(0, key);
    return bytes;
  }

  private void checkpoint(CheckpointKind kind, int round, int keep) {
    kept.add(
        store
            .checkpoints()
            .take(
                round % FULL_EVERY == 0
                    ? CheckpointRequest.full(kind)
                    : CheckpointRequest.logOnly(kind)));
    measure("with a new checkpoint in round " + round);
    while (kept.size() > keep) {
      store.checkpoints().remove(kept.remove());
    }
  }

  private void measure(String when) {
    long bytes = allBytes();
    assertThat(bytes)
        .as("bytes of all files " + when + ", " + state())
        .isBetween(1L, 2 * LIVE + lagBytes);
  }

  private String state() {
    return "live="
        + LIVE
        + ", log="
        + store.statistics().logBytes()
        + ", stored="
        + store.log().storedBytes();
  }

  private long allBytes() {
    try (Stream<Path> files = Files.list(directory)) {
      return files.mapToLong(CheckpointDiskTest::bytes).sum();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long bytes(Path file) {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      // Compaction has removed a segment since the directory was listed.
      return 0;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void assertAllIsPresent(int keys) {
    long[] found = new long[1];
    for (int key = 0; key < keys; key++) {
      assertThat(sessions.getFirst().read(ByteSpan.of(bytes(key)), null, found, null))
          .isEqualTo(Status.FOUND);
      assertThat(found[0]).as("key " + key).isEqualTo(sums.get(key));
    }
    StoreInvariants.check(store);
  }

  /** The parts of the live bytes are 1/hot and 1/written. */
  @ParameterizedTest(name = "{0}, {1} kept, hot 1/{2}, 1/{3} written between two")
  @CsvSource({
    "FOLD_OVER, 1, 4, 20",
    "FOLD_OVER, 1, 40, 20",
    "FOLD_OVER, 1, 1, 10",
    "FOLD_OVER, 2, 4, 40",
    "SNAPSHOT, 1, 4, 20",
    "INCREMENTAL_SNAPSHOT, 1, 4, 20",
  })
  void allFilesStayWithinTwiceTheLiveBytes(
      CheckpointKind kind, int keep, int hotPart, int writtenPart) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(1);
    int writes = KEYS / writtenPart;
    int rounds = ROTATIONS * writtenPart;
    load();
    for (int round = 0; round < rounds; round++) {
      for (int part = 0; part < MEASURES; part++) {
        for (int i = 0; i < writes / MEASURES; i++) {
          write(0, random.nextInt(KEYS / hotPart));
        }
        awaitRest();
        measure("in round " + round);
      }
      checkpoint(kind, round, keep);
    }
    assertThat(copiedForEachByteWritten(writtenPart)).isLessThan(4);
    compaction.close();
    assertAllIsPresent(KEYS);
  }

  private double copiedForEachByteWritten(int writtenPart) {
    long rounds = (long) ROTATIONS * writtenPart;
    long writes = rounds * (KEYS / writtenPart);
    return (double) store.statistics().compaction().movedBytes() / (writes * RECORD_BYTES);
  }

  /** Three sessions write while the checkpoint is taken and compaction runs. */
  @ParameterizedTest
  @EnumSource(names = {"FOLD_OVER", "SNAPSHOT", "INCREMENTAL_SNAPSHOT"})
  void diskUseIsBoundedWithConcurrentSessions(CheckpointKind kind) throws InterruptedException {
    int parts = 24;
    load();
    for (int session = 1; session < 3; session++) {
      sessions.add(store.newSession().spans(new Summing()));
    }
    for (int round = 0; round < ROTATIONS * parts; round++) {
      int number = round;
      Crew crew = new Crew(kind + ", round " + round, this::state);
      for (int session = 0; session < 3; session++) {
        int mine = session;
        SplittableRandom random = new SplittableRandom(3L * round + session);
        crew.add(() -> {
          for (int i = 0; i < KEYS / parts / 3; i++) {
            write(mine, random.nextInt(KEYS / 4));
          }
        });
      }
      crew.add(() -> checkpoint(kind, number, 1));
      lagBytes = 4 * MEMORY;
      crew.run();
      lagBytes = 0;
      awaitRest();
      measure("in round " + round);
    }
    compaction.close();
    assertAllIsPresent(KEYS);
  }

  /**
   * The newest checkpoint keeps what it needs, and there is no other checkpoint. Compaction does
   * not copy endlessly without freeing anything, throttles no writer, and is within its bounds
   * again after the next few checkpoints.
   */
  @Test
  void withoutACheckpointNoMoreIsCopiedThanIsWritten() throws InterruptedException {
    SplittableRandom random = new SplittableRandom(2);
    load();
    kept.add(store.checkpoints().take());
    long copiedBefore = store.statistics().compaction().movedBytes();
    int writes = 6 * KEYS;
    for (int i = 0; i < writes; i++) {
      write(0, random.nextInt(KEYS / 4));
    }
    awaitRest();
    long copied = store.statistics().compaction().movedBytes() - copiedBefore;
    assertThat(copied).isBetween(LIVE / 4, (long) writes * RECORD_BYTES);
    for (int round = 0; round < 6; round++) {
      kept.add(store.checkpoints().take());
      store.checkpoints().remove(kept.remove());
      awaitRest();
    }
    measure("after six more checkpoints");
    compaction.close();
    assertAllIsPresent(KEYS);
  }

  /**
   * Nothing to drop: compaction leaves a log of only new keys unchanged, except for about two
   * samples.
   */
  @Test
  void aFullyLiveLogIsHardlyCopied() throws InterruptedException {
    sessions.add(store.newSession().spans(new Summing()));
    for (int key = 0; key < KEYS; key++) {
      write(0, key);
      if (key % (KEYS / 20) == KEYS / 40) {
        kept.add(store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER)));
        if (kept.size() > 1) {
          store.checkpoints().remove(kept.remove());
        }
        awaitRest();
        long live = (key + 1L) * RECORD_BYTES;
        assertThat(allBytes()).as("after " + key).isLessThanOrEqualTo(2 * live + CHECKPOINT_BYTES);
      }
    }
    assertThat(store.statistics().compaction().movedBytes()).isLessThanOrEqualTo(2 * LIVE);
    compaction.close();
    assertAllIsPresent(KEYS);
  }

  /**
   * Records that were known to be live have died: the log shrinks accordingly, from checkpoint to
   * checkpoint.
   */
  @Test
  void diskUseShrinksWithDeletes() throws InterruptedException {
    SplittableRandom random = new SplittableRandom(3);
    load();
    int left = KEYS / 4;
    for (int key = left; key < KEYS; key++) {
      assertThat(sessions.getFirst().delete(ByteSpan.of(bytes(key)), null)).isEqualTo(Status.FOUND);
    }
    for (int round = 0; round < 80; round++) {
      for (int i = 0; i < left / 20; i++) {
        write(0, random.nextInt(left));
      }
      awaitRest();
      checkpoint(CheckpointKind.FOLD_OVER, round, 1);
    }
    assertThat(allBytes()).as(state()).isLessThanOrEqualTo(LIVE / 4 * 2 + CHECKPOINT_BYTES);
    compaction.close();
    assertAllIsPresent(left);
  }

  private static final class Summing implements StoreFunctions<Long, long[], Void> {
    @Override
    public void singleReader(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      output[0] = value.getLong(0);
    }

    @Override
    public int initialBytes(ByteSpan key, Long input) {
      return VALUE_BYTES;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      value.setLength(VALUE_BYTES);
      value.putLong(0, input);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      value.putLong(0, value.getLong(0) + input);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Long input, ByteSpan oldValue) {
      return oldValue.length();
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Long input,
        ByteSpan oldValue,
        ByteSpan newValue,
        long[] output,
        RecordView record) {
      newValue.setTo(oldValue);
      newValue.putLong(0, oldValue.getLong(0) + input);
    }
  }
}

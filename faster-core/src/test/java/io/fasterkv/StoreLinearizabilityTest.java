package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.lin.Histories;
import io.fasterkv.lin.Op;
import io.fasterkv.lin.Op.Answer;
import io.fasterkv.lin.Register;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that histories of three threads on one key are possible for a register, including statuses,
 * while cuts make the record fuzzy and read-only, and keys in the same bucket are added and
 * removed.
 */
@Tag("seeds")
class StoreLinearizabilityTest {
  private static final int ROUNDS = 4000;
  private static final int ROUNDS_OF_BATCHES = 400;
  private static final long MOST_LOG_BYTES = 256 << 10;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void longsAreRegisters(long seed) throws InterruptedException {
    check(RecordKind.LONGS, seed);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void spansAreRegisters(long seed) throws InterruptedException {
    check(RecordKind.SPANS, seed);
  }

  private void check(RecordKind kind, long seed) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    double[] fractions = {0, 0.3, 0.9};
    // All keys stay in memory, so that every status is definite.
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(64 << 20)
            .logMemoryBytes(32 << 20)
            .pageBytes(4096)
            .indexBytes(64L << random.nextInt(2, 8))
            .mutableFraction(fractions[random.nextInt(fractions.length)])
            .recordKind(kind)
            .build();
    String title = "seed " + seed + ", " + config;
    AtomicBoolean isOver = new AtomicBoolean();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Thread cutter = Thread.ofPlatform().start(() -> cut(store, isOver));
      try {
        Histories histories = new Histories(3, ROUNDS, random);
        assertThat(histories.run(() -> register(store))).as(title).isEmpty();
      } finally {
        isOver.set(true);
        cutter.join();
      }
      StoreInvariants.check(store);
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void batchesOfLongsAreRegistersWhateverTheLogAndTheIndexDo(long seed) {
    checkWithBatches(RecordKind.LONGS, seed);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void batchesOfSpansAreRegistersWhateverTheLogAndTheIndexDo(long seed) {
    checkWithBatches(RecordKind.SPANS, seed);
  }

  /** Few buckets and pages, so that records are evicted and compacted, and change buckets. */
  private void checkWithBatches(RecordKind kind, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] fractions = {0, 0.3, 0.6};
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .logMemoryBytes(4096L << random.nextInt(2, 5))
            .pageBytes(4096)
            .indexBytes(64L << random.nextInt(2, 8))
            .mutableFraction(fractions[random.nextInt(fractions.length)])
            .recordKind(kind)
            .build();
    String title = "seed " + seed + ", " + config;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Histories histories = new Histories(3, ROUNDS_OF_BATCHES, true, random);
      Crew crew = new Crew(title, () -> Insides.marks(store));
      SplittableRandom dice = random.split();
      crew.add(() -> {
        try {
          assertThat(histories.run(() -> register(store))).as(title).isEmpty();
        } finally {
          crew.end();
        }
      });
      crew.add(() -> fill(crew, store));
      crew.add(() -> keepHouse(crew, store, dice));
      crew.run();
      StoreInvariants.check(store);
    }
  }

  /** Evicts the records of other keys. */
  private static void fill(Crew crew, FasterStore store) {
    try (Register others = register(store)) {
      for (long i = 0; !crew.isOver(); i++) {
        // There is no background compaction that could throttle this thread.
        if (store.statistics().logBytes() > MOST_LOG_BYTES) {
          Thread.yield();
        } else {
          others.upsert(-1000 - i % 500, i);
        }
      }
    }
  }

  private static void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
    int doublings = 0;
    while (!crew.isOver()) {
      switch (dice.nextInt(6)) {
        case 0 -> store.log().cut().close();
        case 1 -> {
          boolean grow = doublings == 0 || (doublings < 3 && dice.nextBoolean());
          if (grow) {
            store.index().grow();
          } else {
            store.index().shrink();
          }
          doublings += grow ? 1 : -1;
        }
        default -> store.log().compact();
      }
    }
  }

  private static void cut(FasterStore store, AtomicBoolean isOver) {
    while (!isOver.get()) {
      store.log().cut().close();
      LockSupport.parkNanos(200_000);
    }
  }

  /** Whether keys may be evicted. */
  private static boolean isSmall(FasterStore store) {
    return store.config().logMemoryBytes() < 1 << 20;
  }

  private static Register register(FasterStore store) {
    return store.config().recordKind() == RecordKind.LONGS ? new Longs(store) : new Spans(store);
  }

  /** A blind delete does not search the disk. */
  private static Answer answerOfDelete(Status status) {
    return status == Status.FOUND ? Answer.UNKNOWN : answer(status);
  }

  private static Answer answerOfRmw(Status status) {
    return status == Status.COPIED ? Answer.PRESENT : answer(status);
  }

  private static Answer answer(Status status) {
    return switch (status) {
      case CREATED, NOT_FOUND -> Answer.ABSENT;
      case UPDATED_IN_PLACE, FOUND -> Answer.PRESENT;
      case COPIED, DELTA_APPENDED -> Answer.UNKNOWN;
      case PENDING -> throw new IllegalStateException("pending in a blocking session");
    };
  }

  private static final class Longs implements Register {
    private final LongSession<Void> session;
    private final boolean isOnDisk;

    Longs(FasterStore store) {
      isOnDisk = isSmall(store);
      session = store.newSession().longs(new Mix());
    }

    private static final class Mix implements LongFunctions<Void> {
      @Override
      public long initialUpdater(long key, long input) {
        return input;
      }

      @Override
      public long updater(long key, long input, long oldValue) {
        return Op.mix(oldValue, input);
      }
    }

    @Override
    public OptionalLong read(long key) {
      Status status = session.read(key, null);
      return status == Status.FOUND ? OptionalLong.of(session.value()) : OptionalLong.empty();
    }

    @Override
    public Answer upsert(long key, long value) {
      return answer(session.upsert(key, value, null));
    }

    @Override
    public Answer rmw(long key, long input) {
      return answerOfRmw(session.rmw(key, input, null));
    }

    @Override
    public Answer delete(long key) {
      Status status = session.delete(key, null);
      return isOnDisk ? answerOfDelete(status) : answer(status);
    }

    @Override
    public void read(long[] keys, OptionalLong[] found) {
      long[] values = new long[keys.length];
      Status[] statuses = new Status[keys.length];
      session.read(keys, values, statuses, 0, keys.length, null);
      for (int i = 0; i < keys.length; i++) {
        found[i] = statuses[i] == Status.FOUND ? OptionalLong.of(values[i]) : OptionalLong.empty();
      }
    }

    @Override
    public void upsert(long[] keys, long[] values, Answer[] answers) {
      Status[] statuses = new Status[keys.length];
      session.upsert(keys, values, statuses, 0, keys.length, null);
      Arrays.setAll(answers, i -> answer(statuses[i]));
    }

    @Override
    public void rmw(long[] keys, long[] inputs, Answer[] answers) {
      Status[] statuses = new Status[keys.length];
      session.rmw(keys, inputs, statuses, 0, keys.length, null);
      Arrays.setAll(answers, i -> answerOfRmw(statuses[i]));
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** Values are a number and some more bytes: every third value outgrows its record. */
  private static final class Spans implements Register, StoreFunctions<Long, long[], Void> {
    private final Session<Long, long[], Void> session;
    private final boolean isOnDisk;

    Spans(FasterStore store) {
      isOnDisk = isSmall(store);
      session = store.newSession().spans(this);
    }

    private static int length(long value) {
      return Long.BYTES + (int) Math.floorMod(value, 3L) * 16;
    }

    private static ByteSpan key(long key) {
      ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
      return ByteSpan.of(bytes.putLong(key).array());
    }

    private static void write(long value, ByteSpan to) {
      to.setLength(length(value));
      to.putLong(0, value);
    }

    @Override
    public OptionalLong read(long key) {
      long[] output = new long[1];
      Status status = session.read(key(key), 0L, output, null);
      return status == Status.FOUND ? OptionalLong.of(output[0]) : OptionalLong.empty();
    }

    @Override
    public Answer upsert(long key, long value) {
      ByteSpan span = ByteSpan.of(new byte[length(value)]);
      write(value, span);
      return answer(session.upsert(key(key), span, null));
    }

    @Override
    public Answer rmw(long key, long input) {
      return answerOfRmw(session.rmw(key(key), input, null));
    }

    @Override
    public Answer delete(long key) {
      Status status = session.delete(key(key), null);
      return isOnDisk ? answerOfDelete(status) : answer(status);
    }

    @Override
    public void read(long[] keys, OptionalLong[] found) {
      Long[] inputs = new Long[keys.length];
      long[][] outputs = new long[keys.length][1];
      Status[] statuses = new Status[keys.length];
      session.read(keys(keys), inputs, outputs, statuses, keys.length, null);
      for (int i = 0; i < keys.length; i++) {
        found[i] =
            statuses[i] == Status.FOUND ? OptionalLong.of(outputs[i][0]) : OptionalLong.empty();
      }
    }

    @Override
    public void upsert(long[] keys, long[] values, Answer[] answers) {
      ByteSpan[] spans = new ByteSpan[keys.length];
      Arrays.setAll(
          spans,
          i -> {
            ByteSpan span = ByteSpan.of(new byte[length(values[i])]);
            write(values[i], span);
            return span;
          });
      Status[] statuses = new Status[keys.length];
      session.upsert(keys(keys), spans, statuses, keys.length, null);
      Arrays.setAll(answers, i -> answer(statuses[i]));
    }

    @Override
    public void rmw(long[] keys, long[] inputs, Answer[] answers) {
      Long[] boxed = new Long[keys.length];
      Arrays.setAll(boxed, i -> inputs[i]);
      Status[] statuses = new Status[keys.length];
      session.rmw(keys(keys), boxed, statuses, keys.length, null);
      Arrays.setAll(answers, i -> answerOfRmw(statuses[i]));
    }

    private static ByteSpan[] keys(long[] keys) {
      ByteSpan[] spans = new ByteSpan[keys.length];
      Arrays.setAll(spans, i -> key(keys[i]));
      return spans;
    }

    @Override
    public void close() {
      session.close();
    }

    @Override
    public void singleReader(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      output[0] = value.getLong(0);
    }

    @Override
    public int initialBytes(ByteSpan key, Long input) {
      return length(input);
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      write(input, value);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
      long mixed = Op.mix(value.getLong(0), input);
      if (length(mixed) > value.capacity()) {
        return false;
      }
      write(mixed, value);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Long input, ByteSpan oldValue) {
      return length(Op.mix(oldValue.getLong(0), input));
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Long input,
        ByteSpan oldValue,
        ByteSpan newValue,
        long[] output,
        RecordView record) {
      write(Op.mix(oldValue.getLong(0), input), newValue);
    }
  }
}

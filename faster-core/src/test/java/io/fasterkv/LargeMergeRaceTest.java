package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests threads that append to the same few keys of a store that merges, until the values have many
 * pages, and read them, with concurrent cuts and compaction. Each appended element contains its
 * thread and number. Each element must be present once and in order, and no element appended before
 * a read began may be missing from its result. The seed is in the test's name.
 */
@Tag("seeds")
class LargeMergeRaceTest {
  private static final int THREADS = 3;
  private static final int KEYS = 3;
  private static final int OPERATIONS = 1_500;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyAppendIsPresentOnceAndInOrder(long seed) {
    new Run(seed, directory).start();
  }

  private static final class Run {
    private final SplittableRandom random;
    private final StoreConfig config;
    private final SessionMode mode;
    private final String title;

    /** Numbers of a thread's appends to a key: those that have ended, and those that have begun. */
    private final AtomicIntegerArray ended = new AtomicIntegerArray(THREADS * KEYS);

    private final AtomicIntegerArray begun = new AtomicIntegerArray(THREADS * KEYS);

    Run(long seed, Path directory) {
      random = new SplittableRandom(seed);
      double[] fractions = {0, 0.3, 0.5, 0.9};
      config =
          StoreConfig.builder(directory)
              .memoryBytes(8 << 20)
              .pageBytes(4096)
              .logMemoryBytes(4096L << random.nextInt(2, 6))
              .indexBytes(4096)
              .segmentBytes(16384)
              .scratchBytes(4 << 20)
              .mutableFraction(fractions[random.nextInt(fractions.length)])
              .deleteOnClose(true)
              .backgroundCompaction(random.nextBoolean())
              .merge(new BytesFunctions())
              .build();
      mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      title = "seed " + seed + ", " + mode + ", " + config;
    }

    void start() {
      try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
        Crew crew = new Crew(title, () -> Insides.marks(store));
        for (int thread = 0; thread < THREADS; thread++) {
          int own = thread;
          SplittableRandom dice = random.split();
          crew.add(() -> work(crew, store, own, dice));
        }
        SplittableRandom dice = random.split();
        crew.add(() -> keepHouse(crew, store, dice));
        crew.run();
        try (var session = store.newSession().spans(new BytesFunctions())) {
          for (int key = 0; key < KEYS; key++) {
            assertThat(ended).as(title).hasToString(begun.toString());
            read(session, key);
          }
        }
      }
    }

    private void work(Crew crew, FasterStore store, int own, SplittableRandom dice) {
      try (var session = store.newSession().mode(mode).spans(new BytesFunctions())) {
        for (int i = 0; i < OPERATIONS && !crew.isOver(); i++) {
          int key = dice.nextInt(KEYS);
          if (dice.nextInt(4) == 0) {
            read(session, key);
          } else {
            append(session, own, key, dice);
          }
        }
      }
      crew.end();
    }

    private void append(
        Session<byte[], BytesFunctions.Result, Object> session,
        int own,
        int key,
        SplittableRandom dice) {
      int slot = own * KEYS + key;
      int number = begun.incrementAndGet(slot);
      boolean isLong = dice.nextInt(100) == 0;
      byte[] input = new byte[9 + (isLong ? dice.nextInt(6000) : dice.nextInt(24))];
      ByteBuffer.wrap(input).put((byte) own).putInt(number).putInt(input.length);
      session.rmw(key(key), input, null);
      session.completePending(true);
      ended.set(slot, number);
    }

    private void read(Session<byte[], BytesFunctions.Result, Object> session, int key) {
      int[] before = new int[THREADS];
      for (int thread = 0; thread < THREADS; thread++) {
        before[thread] = ended.get(thread * KEYS + key);
      }
      var result = new BytesFunctions.Result();
      Status status = session.read(key(key), null, result, null);
      if (status == Status.PENDING) {
        session.completePending(true);
        status = result.completed;
      }
      check(key, before, status == Status.FOUND ? result.value : new byte[0]);
    }

    private void check(int key, int[] before, byte[] value) {
      int[] last = new int[THREADS];
      for (ByteBuffer bytes = ByteBuffer.wrap(value); bytes.hasRemaining(); ) {
        int at = bytes.position();
        int thread = bytes.get();
        int number = bytes.getInt();
        if (thread < 0 || thread >= THREADS || number != last[thread] + 1) {
          throw new IllegalStateException(
              "key " + key + " at " + at + ": append " + number + " of thread " + thread);
        }
        last[thread] = number;
        bytes.position(at + bytes.getInt());
      }
      for (int thread = 0; thread < THREADS; thread++) {
        boolean isRight =
            last[thread] >= before[thread] && last[thread] <= begun.get(thread * KEYS + key);
        if (!isRight) {
          throw new IllegalStateException(
              "key "
                  + key
                  + " ends with append "
                  + last[thread]
                  + " of thread "
                  + thread
                  + ", and "
                  + before[thread]
                  + " had ended");
        }
      }
    }

    private void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
      while (!crew.isOver()) {
        if (dice.nextInt(3) == 0) {
          store.log().cut().close();
        } else {
          store.log().compact();
        }
      }
    }

    private static ByteSpan key(int key) {
      return ByteSpan.of(new byte[] {(byte) key, 5});
    }
  }
}

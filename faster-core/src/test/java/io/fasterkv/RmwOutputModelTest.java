package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.OutputFunctions.Output;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests what callbacks return, against a plain map: old and new values, addresses and versions of
 * reads, upserts, RMWs and deletes; in memory and on disk, with small values and some larger than a
 * page. {@code -Dfaster.seed=N} replays a seed.
 */
@Tag("seeds")
class RmwOutputModelTest {
  private static final int STEPS = 8_000;
  private static final int KEYS = 300;
  private static final int PAGE_BYTES = 4096;
  private static final int MAX_VALUE_BYTES = 24 << 10;

  private record Value(byte[] bytes, long address) {}

  private final Map<Integer, Value> model = new HashMap<>();
  private final OutputFunctions functions = new OutputFunctions();
  private long version = 1;

  /** A pending operation takes effect at any time up to its end, so each key has at most one. */
  private final Set<Integer> pendingKeys = new HashSet<>();

  private int inPlace;
  private int copied;
  private int pending;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  @BeforeEach
  void empty() {
    model.clear();
  }

  private StoreConfig config(SplittableRandom random) {
    return StoreConfig.builder(directory)
        .logMemoryBytes(8 * PAGE_BYTES)
        .memoryBytes(1 << 20)
        .scratchBytes(512 << 10)
        .pageBytes(PAGE_BYTES)
        .indexBytes(64L << random.nextInt(3, 9))
        .build();
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void operationsReturnWhatTheyFoundAndMade(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    try (FasterStore store = FasterStore.open(config(random));
        var session = store.newSession().mode(mode).spans(functions)) {
      for (int step = 0; step < STEPS; step++) {
        String at = "seed " + seed + ", step " + step;
        int key = random.nextInt(KEYS);
        if (pendingKeys.contains(key) || random.nextInt(20) == 0) {
          session.completePending(true);
          pendingKeys.clear();
        }
        switch (random.nextInt(10)) {
          case 0 -> upsert(session, key, bytes(random), at);
          case 1 -> delete(session, key, at);
          case 2, 3 -> read(session, key, at);
          default -> update(session, key, input(random, key), at);
        }
        if (random.nextInt(1500) == 0) {
          session.completePending(true);
          store.checkpoints().take();
          version++;
        }
      }
      session.completePending(true);
      for (int key = 0; key < KEYS; key++) {
        read(session, key, "seed " + seed + ", at the end, key " + key);
      }
      session.completePending(true);
      StoreInvariants.check(store);
    }
    assertThat(inPlace).isPositive();
    assertThat(copied).isPositive();
    assertThat(pending > 0).isEqualTo(mode == SessionMode.PENDING);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void batchesReturnWhatTheyFoundAndMade(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (FasterStore store = FasterStore.open(config(random));
        var session = store.newSession().spans(functions)) {
      for (int step = 0; step < STEPS / 50; step++) {
        String at = "seed " + seed + ", step " + step;
        int count = random.nextInt(1, 100);
        ByteSpan[] keys = new ByteSpan[count];
        byte[][] inputs = new byte[count][];
        ByteSpan[] values = new ByteSpan[count];
        Output[] outputs = new Output[count];
        Status[] statuses = new Status[count];
        int[] numbers = random.ints(count, 0, KEYS).toArray();
        for (int i = 0; i < count; i++) {
          keys[i] = ModelDriver.key(numbers[i]);
          inputs[i] = input(random, numbers[i]);
          values[i] = ByteSpan.of(bytes(random));
          outputs[i] = new Output();
        }
        boolean isUpsert = random.nextInt(4) == 0;
        if (isUpsert) {
          session.upsert(keys, inputs, values, outputs, statuses, count);
        } else {
          assertThat(session.rmw(keys, inputs, outputs, statuses, count, null)).as(at).isZero();
        }
        for (int i = 0; i < count; i++) {
          if (isUpsert) {
            checkUpsert(numbers[i], values[i].toArray(), inputs[i], statuses[i], outputs[i], at);
          } else {
            checkUpdate(numbers[i], inputs[i], statuses[i], outputs[i], at);
          }
        }
      }
    }
    assertThat(inPlace).isPositive();
    assertThat(copied).isPositive();
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void stagesReturnWhatTheyFoundAndMade(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (var executor = Executors.newSingleThreadExecutor();
        FasterStore store = FasterStore.open(config(random));
        var session = store.newSession().asyncSpans(functions, executor)) {
      for (int step = 0; step < STEPS / 4; step++) {
        String at = "seed " + seed + ", step " + step;
        int key = random.nextInt(KEYS);
        byte[] bytes = bytes(random);
        byte[] input = input(random, key);
        Output output = new Output();
        if (random.nextInt(8) == 0) {
          var stage = session.upsert(ModelDriver.key(key), input, ByteSpan.of(bytes), output);
          checkUpsert(key, bytes, input, stage.toCompletableFuture().join(), output, at);
        } else {
          var stage = session.rmw(ModelDriver.key(key), input, output);
          pending += stage.toCompletableFuture().isDone() ? 0 : 1;
          checkUpdate(key, input, stage.toCompletableFuture().join(), output, at);
        }
      }
    }
    assertThat(pending).isPositive();
    assertThat(inPlace).isPositive();
    assertThat(copied).isPositive();
  }

  private void read(Session<byte[], Output, Consumer<Status>> session, int key, String at) {
    Output output = new Output();
    Consumer<Status> check =
        status -> {
          Value value = model.get(key);
          assertThat(status).as(at).isEqualTo(value == null ? Status.NOT_FOUND : Status.FOUND);
          if (value != null) {
            assertThat(output.before).as(at).isEqualTo(value.bytes);
            checkAddress(value.address, output, at);
          }
        };
    finish(key, session.read(ModelDriver.key(key), new byte[0], output, check), check);
  }

  private void upsert(
      Session<byte[], Output, Consumer<Status>> session, int key, byte[] bytes, String at) {
    Output output = new Output();
    byte[] input = {1};
    Status status = session.upsert(ModelDriver.key(key), input, ByteSpan.of(bytes), output);
    checkUpsert(key, bytes, input, status, output, at);
  }

  private void checkUpsert(
      int key, byte[] bytes, byte[] input, Status status, Output output, String at) {
    Value old = model.get(key);
    if (status == Status.UPDATED_IN_PLACE) {
      assertThat(output.before).as(at).isEqualTo(old.bytes);
      checkAddress(old.address, output, at);
    } else {
      assertThat(output.before).as(at).isSameAs(input);
    }
    assertThat(output.after).as(at).isEqualTo(bytes);
    assertThat(output.version).as(at).isEqualTo(version);
    model.put(key, new Value(bytes, output.address));
  }

  private void update(
      Session<byte[], Output, Consumer<Status>> session, int key, byte[] input, String at) {
    Output output = new Output();
    Consumer<Status> check = status -> checkUpdate(key, input, status, output, at);
    finish(key, session.rmw(ModelDriver.key(key), input, output, check), check);
  }

  private void checkUpdate(int key, byte[] input, Status status, Output output, String at) {
    Value old = model.get(key);
    assertThat(output.before).as(at).isEqualTo(old == null ? null : old.bytes);
    byte[] made = old == null ? input : join(old.bytes, input);
    assertThat(output.after).as(at).isEqualTo(made);
    switch (status) {
      case FOUND -> assertThat(input).as(at).isEmpty();
      case UPDATED_IN_PLACE -> {
        checkAddress(old.address, output, at);
        inPlace++;
      }
      case COPIED -> copied++;
      default -> assertThat(status).as(at).isEqualTo(Status.CREATED);
    }
    if (status != Status.FOUND) {
      assertThat(output.version).as(at).isEqualTo(version);
      model.put(key, new Value(made, output.address));
    }
  }

  private void delete(Session<byte[], Output, Consumer<Status>> session, int key, String at) {
    Output seen = new Output();
    functions.deleted = seen;
    Consumer<Status> check =
        status -> {
          Value old = model.remove(key);
          assertThat(old == null || status == Status.FOUND).as(at).isTrue();
          assertThat(seen.calls > 0).as(at).isEqualTo(status == Status.FOUND);
          if (seen.before != null) {
            assertThat(seen.before).as(at).isEqualTo(old.bytes);
            checkAddress(old.address, seen, at);
          }
        };
    finish(key, session.delete(ModelDriver.key(key), check), check);
  }

  private void finish(int key, Status status, Consumer<Status> check) {
    if (status == Status.PENDING) {
      pending++;
      pendingKeys.add(key);
    } else {
      check.accept(status);
    }
  }

  /** The record of a value larger than a page gets its address after the functions have run. */
  private static void checkAddress(long known, Output output, String at) {
    assertThat(output.address).as(at).isPositive();
    if (known != 0) {
      assertThat(output.address).as(at).isEqualTo(known);
    }
  }

  private static byte[] bytes(SplittableRandom random) {
    byte[] bytes = new byte[random.nextInt(40) == 0 ? 10_000 : random.nextInt(1, 60)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Mostly short; empty for a value that is already long. */
  private byte[] input(SplittableRandom random, int key) {
    @Nullable Value old = model.get(key);
    boolean isLong = old != null && old.bytes.length > MAX_VALUE_BYTES;
    return isLong || random.nextInt(10) == 0 ? new byte[0] : bytes(random);
  }

  private static byte[] join(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }
}

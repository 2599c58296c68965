package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests updates that create no first value or no successor, among others that do, against a plain
 * map: on disk, in memory, and merging. {@code -Dfaster.seed=N} replays a seed.
 */
@Tag("seeds")
class ConditionalRmwTest {
  private static final int STEPS = 10_000;
  private static final int KEYS = 300;
  private static final int PAGE_BYTES = 4096;

  /** First byte of an input that updates only existing values. */
  private static final byte IF_THERE = 1;

  /** First byte of an input that leaves a value unchanged. */
  private static final byte KEEPS = 2;

  private final Map<Integer, byte[]> model = new HashMap<>();

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(9);
  }

  private static final class Functions extends BytesFunctions {
    @Override
    public boolean needsInitialUpdate(ByteSpan key, byte[] input) {
      return input[0] != IF_THERE;
    }

    @Override
    public boolean needsCopyUpdate(ByteSpan key, byte[] input, ByteSpan oldValue, Result output) {
      return input[0] != KEEPS;
    }

    @Override
    public boolean mergesBlindly(ByteSpan key, byte[] input) {
      return input[0] != KEEPS;
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, byte[] input, ByteSpan value, Result output, RecordView record) {
      return input[0] == KEEPS || super.inPlaceUpdater(key, input, value, output, record);
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      return input[0] == KEEPS ? oldValue.length() : super.copyBytes(key, input, oldValue);
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        byte[] input,
        ByteSpan oldValue,
        ByteSpan newValue,
        Result output,
        RecordView record) {
      if (input[0] == KEEPS) {
        newValue.setTo(oldValue);
      } else {
        super.copyUpdater(key, input, oldValue, newValue, output, record);
      }
    }

    @Override
    @SuppressWarnings("unchecked")
    public void completionCallback(Status status, byte[] input, Result output, Object context) {
      if (context != null) {
        ((AtomicReference<Status>) context).set(status);
      }
    }
  }

  private StoreConfig config(SplittableRandom random, long kind) {
    StoreConfigBuilder config =
        kind == 1
            ? StoreConfig.inMemory().backgroundCompaction(false)
            : StoreConfig.builder(directory).backgroundCompaction(kind == 0);
    if (kind != 1) {
      config.logMemoryBytes(8 * PAGE_BYTES);
    }
    config
        .memoryBytes(kind == 1 ? 4 << 20 : 1 << 20)
        .scratchBytes(256 << 10)
        .pageBytes(PAGE_BYTES)
        .indexBytes(64L << random.nextInt(2, 9));
    return (kind == 2 ? config.merge(new Functions()) : config).build();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void updatesExistingValuesAndCreatesNone(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int kind = random.nextInt(3);
    try (FasterStore store = FasterStore.open(config(random, kind));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new Functions())) {
      for (int step = 0; step < STEPS; step++) {
        int key = random.nextInt(KEYS);
        ByteSpan bytes = ModelDriver.key(key);
        String at = "seed " + seed + ", step " + step + ", key " + key;
        switch (random.nextInt(8)) {
          case 0 -> {
            byte[] value = value(random);
            session.upsert(bytes, ByteSpan.of(value), null);
            model.put(key, value);
          }
          case 1, 2 -> {
            session.delete(bytes, null);
            model.remove(key);
          }
          case 3 -> check(session, key, at);
          default -> update(session, key, random, at);
        }
        if (kind != 0 && random.nextInt(1000) == 0) {
          store.log().compact();
        }
        if (kind != 1 && random.nextInt(1000) == 0) {
          store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
        }
      }
      for (int key = 0; key < KEYS; key++) {
        check(session, key, "seed " + seed + ", key " + key);
      }
      // Compaction in the background could drop a tombstone between two steps of the check.
      if (kind != 0) {
        StoreInvariants.check(store);
      }
    }
  }

  private void update(
      Session<byte[], BytesFunctions.Result, Object> session,
      int key,
      SplittableRandom random,
      String at) {
    byte[] input = value(random);
    byte[] old = model.get(key);
    // Values are smaller than a page or far larger.
    if (old != null && old.length > 9000) {
      return;
    }
    Status status = session.rmw(ModelDriver.key(key), input, null);
    boolean isLeftAlone = old == null && input[0] == IF_THERE;
    assertThat(status == Status.NOT_FOUND).as(at + ": " + status).isEqualTo(isLeftAlone);
    if (isLeftAlone || (old != null && input[0] == KEEPS)) {
      return;
    }
    byte[] grown = old == null ? input : Arrays.copyOf(old, old.length + input.length);
    System.arraycopy(input, 0, grown, grown.length - input.length, input.length);
    model.put(key, grown);
  }

  private void check(Session<byte[], BytesFunctions.Result, Object> session, int key, String at) {
    BytesFunctions.Result result = new BytesFunctions.Result();
    Status status = session.read(ModelDriver.key(key), null, result, null);
    assertThat(status == Status.FOUND ? result.value : null).as(at).isEqualTo(model.get(key));
  }

  private static byte[] value(SplittableRandom random) {
    byte[] value = new byte[random.nextInt(40) == 0 ? 3000 : random.nextInt(1, 40)];
    random.nextBytes(value);
    value[0] = (byte) random.nextInt(3);
    return value;
  }

  /** It creates neither a record nor an index entry. */
  @Test
  void leavesNoTraceOfKeysThatAreNotThere() {
    SplittableRandom random = new SplittableRandom(1);
    try (FasterStore store = FasterStore.open(config(random, 0));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new Functions())) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.rmw(ModelDriver.key(key), new byte[] {IF_THERE}, null))
            .isEqualTo(Status.NOT_FOUND);
      }
      assertThat(store.statistics().index().entries()).isZero();
      assertThat(store.log().tailAddress()).isEqualTo(store.log().beginAddress());
    }
  }

  /** A record on disk is read and not copied. */
  @Test
  void makesNoSuccessorOfAnUnchangedValue() {
    SplittableRandom random = new SplittableRandom(1);
    try (FasterStore store = FasterStore.open(config(random, 0));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new Functions())) {
      for (int key = 0; key < 10 * KEYS; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[40]), null);
      }
      long tail = store.log().tailAddress();
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.rmw(ModelDriver.key(key), new byte[] {KEEPS}, null))
            .isEqualTo(Status.FOUND);
      }
      assertThat(store.log().tailAddress()).isEqualTo(tail);
    }
  }

  /** The key may be on disk, so the update is pending until the disk was searched. */
  @Test
  void endsAsNotFoundWhenTheDiskHasNoSuchKey() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(8 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .indexBytes(256)
            .build();
    try (FasterStore store = FasterStore.open(config);
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().mode(SessionMode.PENDING).spans(new Functions())) {
      for (int key = 0; key < 10 * KEYS; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[40]), null);
      }
      int pending = 0;
      for (int key = 10 * KEYS; key < 11 * KEYS; key++) {
        AtomicReference<Status> end = new AtomicReference<>();
        Status status = session.rmw(ModelDriver.key(key), new byte[] {IF_THERE}, end);
        if (status == Status.PENDING) {
          pending++;
          session.completePending(true);
          status = end.get();
        }
        assertThat(status).as("key " + key).isEqualTo(Status.NOT_FOUND);
      }
      assertThat(pending).isPositive();
    }
  }
}

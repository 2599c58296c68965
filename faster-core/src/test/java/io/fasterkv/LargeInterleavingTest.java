package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests everything that another thread can do at every step of an operation on a large value. A
 * step is a call of the user's functions or a read from disk. No epoch is protected there, so the
 * other operation runs in the middle of the first on the same thread. The result of the operation,
 * and the state after both, must be the same as if they had run one after the other.
 */
@Tag("long")
class LargeInterleavingTest {
  private static final int PAGE_BYTES = 4096;
  private static final ByteSpan KEY = ByteSpan.of(new byte[] {1, 2, 3});
  private static final String OLD = "o".repeat(14_000);
  private static final String SMALL = "s".repeat(500);
  private static final String NEW = "n".repeat(12_000);
  private static final String APPENDED = "+".repeat(9_000);
  private static final String OTHER = "x".repeat(13_000);
  private static final String OTHER_APPENDED = "-".repeat(5_000);
  private static final String DELTA = "d".repeat(20);
  private static final String NOTHING = "";

  /** The deltas above the value at first; none in a store that does not merge. */
  private String deltas = NOTHING;

  /** Called at each step; does nothing while the other operation runs. */
  private Runnable step = () -> {};

  /** The interrupted operation: returns what it has read, or null. */
  private enum Operation {
    READ_MEMORY(OLD, 8),
    READ_DISK(OLD, 4),
    UPSERT(OLD, 4),
    APPEND_IN_MEMORY(OLD, 8),
    APPEND_ON_DISK(OLD, 4),
    GROW(SMALL, 8),
    COMPACT(OLD, 4),
    SCAN(OLD, 4);

    private final String before;
    private final int pages;

    Operation(String before, int pages) {
      this.before = before;
      this.pages = pages;
    }
  }

  /** The operation that runs in the middle of it; one compaction waits for another. */
  private enum Other {
    NOTHING(false),
    EVICT(false),
    CUT(false),
    COMPACT(true),
    CHECKPOINT(false),
    UPSERT(false),
    UPSERT_SMALL(false),
    APPEND(false),
    APPEND_AND_EVICT(false),
    DELETE(false),
    DELETE_AND_EVICT(false),
    DELETE_AND_COMPACT(true),
    APPEND_AND_COMPACT(true),
    UPSERT_TWICE_AND_COMPACT(true);

    private final boolean compacts;

    Other(boolean compacts) {
      this.compacts = compacts;
    }
  }

  static Stream<Arguments> pairs() {
    return Stream.of(Operation.values())
        .flatMap(operation ->
            Stream.of(Other.values())
                .filter(other -> operation != Operation.COMPACT || !other.compacts)
                .map(other -> Arguments.of(operation, other)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("pairs")
  void endsAsOneAfterTheOther(Operation operation, Other other) {
    runAll(operation, other);
  }

  /** The same in a store that merges, where the value has deltas above it at first. */
  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("pairs")
  void endsAsOneAfterTheOtherWithDeltas(Operation operation, Other other) {
    deltas = DELTA + DELTA;
    runAll(operation, other);
  }

  private void runAll(Operation operation, Other other) {
    int steps = run(operation, other, 0);
    for (int at = 1; at <= steps; at++) {
      run(operation, other, at);
    }
    assertThat(steps).isPositive();
  }

  /**
   * The new value is in chunks, and its anchor is about to be put above the record from which it
   * was made, when that record is updated in place: the value is written again.
   */
  @Test
  void anUpdateInPlaceIsNotLostUnderAnAnchor() {
    SteppedFunctions functions = new SteppedFunctions();
    try (FasterStore store = FasterStore.open(config(new SimulatedDisk(), 16));
        var session = store.newSession().spans(functions);
        var others = store.newSession().spans(new BytesFunctions())) {
      others.upsert(KEY, bytes(SMALL + "r"), null);
      others.upsert(KEY, bytes(SMALL), null);
      Pause pause = new Pause();
      int[] looks = {0};
      functions.beforeCopyBytes =
          () -> {
            looks[0]++;
            if (looks[0] == 2) {
              pause.here();
            }
          };
      pause.start(() ->
          assertThat(session.rmw(KEY, bytes(APPENDED).toArray(), null)).isEqualTo(Status.COPIED));
      assertThat(others.rmw(KEY, new byte[] {'-'}, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      pause.finish();
      // Two attempts for each time the value was written.
      assertThat(looks[0]).isEqualTo(4);
      assertThat(name(read(others))).isEqualTo(name(SMALL + "-" + APPENDED));
      StoreInvariants.check(store);
    }
  }

  /** Runs the other operation in step {@code at}; returns the number of steps. */
  private int run(Operation operation, Other other, int at) {
    String title = operation + ", " + other + " in step " + at;
    SimulatedDisk fresh = new SimulatedDisk();
    int[] steps = {0};
    try (FasterStore store = FasterStore.open(config(fresh, operation.pages));
        var session = store.newSession().spans(new SteppedFunctions());
        var others = store.newSession().spans(new BytesFunctions())) {
      prepare(store, others, operation);
      step =
          () -> {
            steps[0]++;
            if (steps[0] == at) {
              Runnable resumed = step;
              step = () -> {};
              doOther(store, others, other);
              step = resumed;
            }
          };
      fresh.setFaults(new Steps());
      String seen = go(store, session, operation);
      step = () -> {};
      boolean isInterrupted = at > 0 && at <= steps[0];
      Other done = isInterrupted ? other : Other.NOTHING;
      assertThat(name(seen)).as(title).isIn(names(allowedToSee(operation, done)));
      assertThat(name(read(others))).as(title).isIn(names(allowedAfter(operation, done)));
      StoreInvariants.check(store);
      fill(others);
      store.log().compact();
      assertThat(name(read(others))).as(title).isIn(names(allowedAfter(operation, done)));
    }
    return steps[0];
  }

  private StoreConfig config(SimulatedDisk disk, int pages) {
    StoreConfigBuilder builder = builder(disk, pages);
    return deltas.isEmpty() ? builder.build() : builder.merge(new BytesFunctions()).build();
  }

  private static StoreConfigBuilder builder(SimulatedDisk disk, int pages) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(4 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) pages * PAGE_BYTES)
        .scratchBytes(2 << 20)
        .segmentBytes(2 * PAGE_BYTES)
        .indexBytes(4096);
  }

  private void prepare(
      FasterStore store,
      Session<byte[], BytesFunctions.Result, Object> others,
      Operation operation) {
    others.upsert(KEY, bytes(operation.before), null);
    for (int at = 0; at < deltas.length(); at += DELTA.length()) {
      // A read-only value gets a delta above it.
      store.log().cut().close();
      others.rmw(KEY, bytes(DELTA).toArray(), null);
    }
    switch (operation) {
      case READ_DISK, APPEND_ON_DISK, SCAN -> fill(others);
      case COMPACT -> {
        fill(others);
        store.log().cut().close();
        others.read(KEY, null, null, null);
      }
      default -> {}
    }
  }

  private static String go(
      FasterStore store,
      Session<byte[], BytesFunctions.Result, Object> session,
      Operation operation) {
    switch (operation) {
      case READ_MEMORY, READ_DISK -> {
        return read(session);
      }
      case UPSERT -> session.upsert(KEY, bytes(NEW), null);
      case APPEND_IN_MEMORY, APPEND_ON_DISK, GROW ->
          session.rmw(KEY, bytes(APPENDED).toArray(), null);
      case COMPACT -> store.log().compact();
      case SCAN -> {
        return scan(store);
      }
    }
    return NOTHING;
  }

  private static void doOther(
      FasterStore store, Session<byte[], BytesFunctions.Result, Object> session, Other other) {
    switch (other) {
      case NOTHING -> {}
      case EVICT -> fill(session);
      case CUT -> store.log().cut().close();
      case COMPACT -> compact(store, session);
      case CHECKPOINT -> store.checkpoints().take();
      case UPSERT -> session.upsert(KEY, bytes(OTHER), null);
      case UPSERT_SMALL -> session.upsert(KEY, bytes(SMALL + SMALL), null);
      case APPEND -> session.rmw(KEY, bytes(OTHER_APPENDED).toArray(), null);
      case DELETE -> session.delete(KEY, null);
      case APPEND_AND_EVICT -> {
        session.rmw(KEY, bytes(OTHER_APPENDED).toArray(), null);
        fill(session);
      }
      case DELETE_AND_EVICT -> {
        session.delete(KEY, null);
        fill(session);
      }
      case DELETE_AND_COMPACT -> {
        session.delete(KEY, null);
        compact(store, session);
      }
      case APPEND_AND_COMPACT -> {
        session.rmw(KEY, bytes(OTHER_APPENDED).toArray(), null);
        compact(store, session);
      }
      case UPSERT_TWICE_AND_COMPACT -> {
        session.upsert(KEY, bytes(NEW), null);
        session.upsert(KEY, bytes(OTHER), null);
        compact(store, session);
      }
    }
  }

  private List<String> allowedToSee(Operation operation, Other other) {
    return switch (operation) {
      case READ_MEMORY, READ_DISK -> List.of(OLD + deltas, afterOther(OLD + deltas, other));
      // The scan belongs to a cut that was made earlier.
      case SCAN -> List.of(OLD + deltas);
      default -> List.of(NOTHING);
    };
  }

  private List<String> allowedAfter(Operation operation, Other other) {
    String before = operation.before + deltas;
    return switch (operation) {
      case UPSERT -> List.of(NEW, afterOther(NEW, other));
      case APPEND_IN_MEMORY, APPEND_ON_DISK, GROW ->
          List.of(afterOther(before, other) + APPENDED, afterOther(before + APPENDED, other));
      default -> List.of(afterOther(before, other));
    };
  }

  private static String afterOther(String before, Other other) {
    return switch (other) {
      case NOTHING, EVICT, CUT, COMPACT, CHECKPOINT -> before;
      case UPSERT, UPSERT_TWICE_AND_COMPACT -> OTHER;
      case UPSERT_SMALL -> SMALL + SMALL;
      case APPEND, APPEND_AND_EVICT, APPEND_AND_COMPACT -> before + OTHER_APPENDED;
      case DELETE, DELETE_AND_EVICT, DELETE_AND_COMPACT -> NOTHING;
    };
  }

  /** A value's runs of letters, for comparison. */
  private static String name(String value) {
    StringBuilder name = new StringBuilder("value");
    int run = 0;
    for (int at = 1; at <= value.length(); at++) {
      if (at == value.length() || value.charAt(at) != value.charAt(run)) {
        name.append(' ').append(at - run).append(value.charAt(run));
        run = at;
      }
    }
    return name.toString();
  }

  private static Set<String> names(List<String> values) {
    return values.stream().map(LargeInterleavingTest::name).collect(Collectors.toSet());
  }

  private static ByteSpan bytes(String value) {
    return ByteSpan.of(value.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static String string(byte[] value) {
    return new String(value, StandardCharsets.ISO_8859_1);
  }

  private static String read(Session<byte[], BytesFunctions.Result, Object> session) {
    var result = new BytesFunctions.Result();
    Status status = session.read(KEY, null, result, null);
    return status == Status.FOUND ? string(result.value) : NOTHING;
  }

  private static String scan(FasterStore store) {
    String seen = NOTHING;
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        if (Arrays.equals(scan.key().toArray(), KEY.toArray())) {
          String older = scan.isDelta() ? seen : NOTHING;
          seen = scan.isTombstone() ? NOTHING : older + string(scan.value().toArray());
        }
      }
    }
    return seen;
  }

  /** Writes more than the memory can hold. */
  private static void fill(Session<byte[], BytesFunctions.Result, Object> session) {
    for (int i = 0; i < 20; i++) {
      byte[] key = {(byte) i, 9};
      session.upsert(ByteSpan.of(key), ByteSpan.of(new byte[2000]), null);
    }
  }

  private static void compact(
      FasterStore store, Session<byte[], BytesFunctions.Result, Object> session) {
    fill(session);
    store.log().compact();
    fill(session);
  }

  /** Each read of the log is a step. */
  private final class Steps implements DiskFaults {
    @Override
    public int beforeRead(String file, long position, int bytes) {
      step.run();
      return bytes;
    }
  }

  /** {@link BytesFunctions} that report each call. */
  private final class SteppedFunctions extends BytesFunctions {
    private Runnable beforeCopyBytes = () -> {};

    @Override
    public void singleReader(
        ByteSpan key,
        byte[] input,
        ByteSpan value,
        BytesFunctions.Result output,
        RecordView record) {
      step.run();
      super.singleReader(key, input, value, output, record);
    }

    @Override
    public void singleWriter(
        ByteSpan key,
        byte[] input,
        ByteSpan source,
        ByteSpan value,
        BytesFunctions.Result output,
        RecordView record) {
      step.run();
      value.setTo(source);
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      beforeCopyBytes.run();
      return super.copyBytes(key, input, oldValue);
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        byte[] input,
        ByteSpan oldValue,
        ByteSpan newValue,
        BytesFunctions.Result output,
        RecordView record) {
      if (newValue.capacity() > PAGE_BYTES) {
        // Otherwise the record is latched.
        step.run();
      }
      super.copyUpdater(key, input, oldValue, newValue, output, record);
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.LongRecord;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a callback that throws or calls its own session: the caller gets an exception, and no
 * epoch, latch, seal or partial record is left behind.
 */
class CallbackFailureTest {
  private static final int PAGE_BYTES = 4096;
  private static final ByteSpan KEY = HashedKeys.numbered(5, 1);
  private static final int ROUNDS = 20;

  @TempDir Path directory;

  private FasterStore store;

  private enum Callback {
    READ,
    READ_IN_PLACE,
    WRITE,
    WRITE_IN_PLACE,
    INITIAL_BYTES,
    INITIAL,
    IN_PLACE,
    COPY_BYTES,
    COPY,
    MERGE
  }

  private static final class Boom extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private FasterStore open(RecordKind kind, Counting merge) {
    StoreConfigBuilder builder =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4L * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .mutableFraction(0.5)
            .indexBytes(4096)
            .recordKind(kind)
            .keyHash(HashedKeys::hash);
    if (merge != null) {
      builder.merge(merge);
    }
    store = FasterStore.open(builder.build(), new MemoryDevice());
    return store;
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void assertNothingIsHeld() {
    Engine engine = Insides.engine(store);
    assertThat(engine.epochs().safeEpoch()).isEqualTo(engine.epochs().currentEpoch() - 1);
    store.log().cut().close();
    StoreInvariants.check(store);
  }

  /** Each callback fails at every call; the updates counted before and after are present. */
  @ParameterizedTest
  @EnumSource(Callback.class)
  void aCallbackThatThrowsLeavesNothingBehind(Callback callback) {
    Counting functions = new Counting();
    open(RecordKind.SPANS, functions);
    try (var session = store.newSession().spans(functions);
        var other = store.newSession().spans(new Counting())) {
      int thrown = 0;
      for (int round = 0; round < ROUNDS; round++) {
        functions.failing = callback;
        thrown += throwsAll(session, round);
        functions.failing = null;
        assertNothingIsHeld();
        // Another session can still update the record, also in place.
        other.upsert(KEY, Counting.value(1, 8), null);
        other.rmw(KEY, 8, null);
        other.rmw(KEY, 40 + round, null);
        long[] sum = new long[1];
        assertThat(session.read(KEY, 0, sum, null)).isEqualTo(Status.FOUND);
        assertThat(sum[0]).isEqualTo(3);
        fillPage(other, round);
      }
      assertThat(thrown).as("the failing callback was called").isPositive();
    }
  }

  /** Runs all kinds of operations on the key; returns how many of them threw. */
  private int throwsAll(Session<Integer, long[], Object> session, int round) {
    Runnable[] operations = {
      () -> session.rmw(KEY, 8, null),
      () -> session.read(KEY, 0, new long[1], null),
      () -> session.rmw(KEY, 48 + round, null),
      () -> session.upsert(KEY, Counting.value(1, 8), null),
      () -> session.upsert(KEY, Counting.value(1, 200), null),
      () -> store.log().cut().close(),
      () -> session.read(KEY, 0, new long[1], null),
      () -> session.rmw(KEY, 8, null),
      () -> session.delete(KEY, null),
      () -> session.rmw(KEY, 8, null),
      () -> deltas(session),
    };
    int thrown = 0;
    for (Runnable operation : operations) {
      try {
        operation.run();
      } catch (Boom e) {
        thrown++;
      }
    }
    return thrown;
  }

  /** A value on disk, deltas above it, and a read that merges them. */
  private void deltas(Session<Integer, long[], Object> session) {
    long end = store.log().tailAddress();
    for (int i = 0; Insides.engine(store).log().headAddress() < end; i++) {
      session.upsert(HashedKeys.numbered(77, i), ByteSpan.of(new byte[900]), null);
    }
    for (int i = 0; i < 3; i++) {
      session.rmw(KEY, 8, null);
    }
    session.read(KEY, 0, new long[1], null);
  }

  private static void fillPage(Session<Integer, long[], Object> session, int round) {
    for (int i = 0; i < 3; i++) {
      session.upsert(HashedKeys.numbered(6, 10L * round + i), ByteSpan.of(new byte[900]), null);
    }
  }

  @Test
  void anUpdaterOfLongsThatThrowsLeavesNothingBehind() {
    open(RecordKind.LONGS, null);
    boolean[] isFailing = {false};
    LongFunctions<Void> functions =
        new LongFunctions<>() {
          @Override
          public long initialUpdater(long key, long input) {
            return updater(key, input, 0);
          }

          @Override
          public long updater(long key, long input, long oldValue) {
            if (isFailing[0] && key == 7) {
              throw new Boom();
            }
            return oldValue + input;
          }
        };
    try (LongSession<Void> session = store.newSession().longs(functions)) {
      isFailing[0] = true;
      assertThatThrownBy(() -> session.rmw(7, 1, null)).isInstanceOf(Boom.class);
      isFailing[0] = false;
      session.rmw(7, 1, null);
      session.rmw(8, 1, null);
      isFailing[0] = true;
      assertThatThrownBy(() -> session.rmw(7, 1, null)).isInstanceOf(Boom.class);
      assertNothingIsHeld();
      isFailing[0] = false;
      session.upsert(7, 1, null);
      session.upsert(8, 1, null);
      isFailing[0] = true;
      Status[] statuses = new Status[3];
      long serial = session.serial();
      assertThatThrownBy(
              () -> session.rmw(new long[] {8, 7, 8}, new long[] {1, 1, 1}, statuses, 0, 3, null))
          .isInstanceOf(Boom.class);
      assertThat(session.serial()).as("elements before the failure count").isEqualTo(serial + 1);
      assertNothingIsHeld();
      isFailing[0] = false;
      session.read(7, null);
      assertThat(session.value()).isEqualTo(1);
      session.read(8, null);
      assertThat(session.value()).as("elements before the failure have taken effect").isEqualTo(2);
    }
  }

  /** What a batch has upserted in place counts even if the log then accepts no more records. */
  @Test
  void upsertsBeforeOneThatTheLogRefusesCount() {
    open(RecordKind.LONGS, null);
    LongFunctions<Void> functions = LongFunctions.sum();
    try (LongSession<Void> session = store.newSession().longs(functions)) {
      session.upsert(7, 1, null);
      store.log().cut().close();
      session.upsert(8, 1, null);
      long rest = store.log().tailAddress() % PAGE_BYTES;
      for (long key = 100; rest > 0 && rest + LongRecord.BYTES <= PAGE_BYTES; key++) {
        session.upsert(key, 1, null);
        rest = store.log().tailAddress() % PAGE_BYTES;
      }
      Insides.engine(store).log().failure().accept(new IOException("made up"));
      long serial = session.serial();
      Status[] statuses = new Status[2];
      assertThatThrownBy(
              () -> session.upsert(new long[] {8, 7}, new long[] {2, 2}, statuses, 0, 2, null))
          .isInstanceOf(DeviceFailed.class);
      session.read(8, null);
      assertThat(session.value()).isEqualTo(2);
      assertThat(session.serial()).as("the upsert and the read").isEqualTo(serial + 2);
    }
  }

  private enum LongUse {
    READ,
    UPSERT,
    RMW,
    DELETE,
    READ_BATCH,
    UPSERT_BATCH,
    RMW_BATCH,
    COMPLETE,
    CLOSE
  }

  /** On the fast path and, above a read-only record, on the slow path. */
  @ParameterizedTest
  @EnumSource(LongUse.class)
  void anUpdaterOfLongsThatCallsItsSessionIsRefused(LongUse use) {
    open(RecordKind.LONGS, null);
    Runnable[] inside = {() -> {}};
    LongFunctions<Void> functions =
        new LongFunctions<>() {
          @Override
          public long initialUpdater(long key, long input) {
            return input;
          }

          @Override
          public long updater(long key, long input, long oldValue) {
            inside[0].run();
            return oldValue + input;
          }
        };
    try (LongSession<Void> session = store.newSession().longs(functions)) {
      session.upsert(1, 10, null);
      session.upsert(2, 20, null);
      for (boolean isReadOnly : new boolean[] {false, true}) {
        if (isReadOnly) {
          store.log().cut().close();
          session.upsert(2, 20, null);
        }
        inside[0] = () -> use(session, use);
        assertThat(refuses(() -> session.rmw(1, 1, null))).isEqualTo(1);
        long[] ones = {1};
        assertThat(refuses(() -> session.rmw(ones, ones, new Status[1], 0, 1, null))).isEqualTo(1);
        inside[0] = () -> {};
        assertNothingIsHeld();
      }
      session.read(1, null);
      assertThat(session.value()).isEqualTo(10);
      assertThat(session.rmw(1, 1, null)).isIn(Status.COPIED, Status.UPDATED_IN_PLACE);
    }
  }

  private static void use(LongSession<Void> session, LongUse use) {
    long[] twos = {2};
    switch (use) {
      case READ -> session.read(2, null);
      case UPSERT -> session.upsert(2, 1, null);
      case RMW -> session.rmw(2, 1, null);
      case DELETE -> session.delete(2, null);
      case READ_BATCH -> session.read(twos, new long[1], new Status[1], 0, 1, null);
      case UPSERT_BATCH -> session.upsert(twos, twos, new Status[1], 0, 1, null);
      case RMW_BATCH -> session.rmw(twos, twos, new Status[1], 0, 1, null);
      case COMPLETE -> session.completePending(true);
      case CLOSE -> session.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Callback.class,
      names = {"READ_IN_PLACE", "WRITE", "WRITE_IN_PLACE", "INITIAL", "IN_PLACE", "COPY"})
  void aCallbackThatCallsItsSessionIsRefused(Callback callback) {
    Counting functions = new Counting();
    open(RecordKind.SPANS, functions);
    var session = store.newSession().spans(functions);
    functions.inside = () -> session.read(KEY, 0, new long[1], null);
    functions.reentrant = callback;
    int refused = 0;
    for (int length : new int[] {8, 8, 64}) {
      refused += refuses(() -> session.rmw(KEY, length, null));
      refused += refuses(() -> session.upsert(KEY, Counting.value(1, 2 * length), null));
      refused += refuses(() -> session.read(KEY, 0, new long[1], null));
      functions.reentrant = null;
      session.upsert(KEY, Counting.value(1, 8), null);
      functions.reentrant = callback;
    }
    assertThat(refused).isPositive();
    functions.reentrant = null;
    assertNothingIsHeld();
    session.rmw(KEY, 8, null);
    session.close();
  }

  private static int refuses(Runnable operation) {
    try {
      operation.run();
      return 0;
    } catch (IllegalStateException e) {
      assertThat(e).hasMessageContaining("one of its own callbacks");
      return 1;
    }
  }

  @Test
  void aCompletionCallbackThatCallsItsSessionIsRefusedAndOthersContinue() {
    Counting functions = new Counting();
    open(RecordKind.SPANS, functions);
    try (var session = store.newSession().mode(SessionMode.PENDING).spans(functions)) {
      for (int i = 0; i < 100; i++) {
        session.upsert(HashedKeys.numbered(i, 1), Counting.value(1, 900), null);
      }
      functions.onCompletion = () -> session.read(HashedKeys.numbered(2, 1), 0, new long[1], null);
      for (int i = 0; i < 3; i++) {
        assertThat(session.read(HashedKeys.numbered(i, 1), 0, new long[1], "context"))
            .isEqualTo(Status.PENDING);
      }
      int refused = 0;
      for (int i = 0; i < 3; i++) {
        refused += refuses(() -> session.completePending(true));
      }
      assertThat(refused).isEqualTo(3);
      functions.onCompletion = null;
      assertThat(session.completePending(true)).isZero();
      assertNothingIsHeld();
    }
  }

  /** A sum at the start of a value whose length an RMW's input chooses. */
  private static final class Counting implements MergeableFunctions<Integer, long[], Object> {
    private Callback failing;
    private Callback reentrant;
    private Runnable inside;
    private Runnable onCompletion;

    static ByteSpan value(long sum, int length) {
      ByteSpan value = ByteSpan.of(new byte[length]);
      value.putLong(0, sum);
      return value;
    }

    private void at(Callback callback) {
      if (callback == failing) {
        throw new Boom();
      }
      if (callback == reentrant) {
        inside.run();
      }
    }

    @Override
    public void singleReader(
        ByteSpan key, Integer input, ByteSpan value, long[] output, RecordView record) {
      at(Callback.READ);
      output[0] = value.getLong(0);
    }

    @Override
    public void concurrentReader(
        ByteSpan key, Integer input, ByteSpan value, long[] output, RecordView record) {
      at(Callback.READ_IN_PLACE);
      output[0] = value.getLong(0);
    }

    @Override
    public void singleWriter(
        ByteSpan key,
        Integer input,
        ByteSpan source,
        ByteSpan value,
        long[] output,
        RecordView record) {
      at(Callback.WRITE);
      value.setTo(source);
    }

    @Override
    public boolean concurrentWriter(
        ByteSpan key,
        Integer input,
        ByteSpan source,
        ByteSpan value,
        long[] output,
        RecordView record) {
      at(Callback.WRITE_IN_PLACE);
      if (source.length() > value.capacity()) {
        return false;
      }
      value.setTo(source);
      return true;
    }

    @Override
    public int initialBytes(ByteSpan key, Integer input) {
      at(Callback.INITIAL_BYTES);
      return input;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Integer input, ByteSpan value, long[] output, RecordView record) {
      at(Callback.INITIAL);
      value.setLength(input);
      value.putLong(0, 1);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Integer input, ByteSpan value, long[] output, RecordView record) {
      at(Callback.IN_PLACE);
      if (input > value.capacity()) {
        return false;
      }
      value.setLength(Math.max(value.length(), input));
      value.putLong(0, value.getLong(0) + 1);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Integer input, ByteSpan oldValue) {
      at(Callback.COPY_BYTES);
      return Math.max(oldValue.length(), input);
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Integer input,
        ByteSpan oldValue,
        ByteSpan newValue,
        long[] output,
        RecordView record) {
      at(Callback.COPY);
      newValue.setLength(Math.max(oldValue.length(), input));
      newValue.putLong(0, oldValue.getLong(0) + 1);
    }

    @Override
    public int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer) {
      return Math.max(older.length(), newer.length());
    }

    @Override
    public void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result) {
      at(Callback.MERGE);
      result.setLength(mergedBytes(key, older, newer));
      result.putLong(0, older.getLong(0) + newer.getLong(0));
    }

    @Override
    public void completionCallback(Status status, Integer input, long[] output, Object context) {
      if (onCompletion != null) {
        onCompletion.run();
      }
    }
  }
}

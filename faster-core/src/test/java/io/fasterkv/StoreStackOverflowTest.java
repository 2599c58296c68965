package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.operation.core.Engine;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests operations that reach the end of their thread's stack in any frame: the call throws and
 * leaves no epoch, latch, seal or tentative entry for which other threads would wait.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("seeds")
class StoreStackOverflowTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 64;

  /**
   * In each, other methods are compiled. Without the check of {@code EpochUser.protect}, 40 rounds
   * find an error in nearly every run.
   */
  private static final int ROUNDS = Seeds.part(40);

  @TempDir Path directory;

  private FasterStore store;
  private int next;

  private enum Use {
    INSERT,
    UPSERT,
    RMW,
    READ,
    DELETE,
    TOUCH,
    COMPACT
  }

  private void open(RecordKind kind) {
    store =
        FasterStore.open(
            StoreConfig.builder(directory)
                .memoryBytes(4 << 20)
                .logMemoryBytes(16L * PAGE_BYTES)
                .pageBytes(PAGE_BYTES)
                .mutableFraction(0.5)
                .indexBytes(1 << 16)
                .recordKind(kind)
                .build(),
            new MemoryDevice());
  }

  @AfterEach
  void close() {
    store.close();
  }

  @ParameterizedTest
  @EnumSource(Use.class)
  void anOperationOnSpansThatOverflowsTheStackNeverHoldsOthersUp(Use use) {
    open(RecordKind.SPANS);
    try (var session = store.newSession().spans(new BytesFunctions());
        var other = store.newSession().spans(new BytesFunctions())) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int key = 0; key < KEYS; key++) {
          session.upsert(key(key), ByteSpan.of(new byte[8]), null);
        }
        assertThat(Stacks.overflow(() -> use(session, use), () -> use(session, use))).isPositive();
        assertNothingIsHeld();
        for (int key = 0; key < KEYS; key++) {
          other.rmw(key(key), new byte[1], null);
          session.rmw(key(key), new byte[1], null);
        }
      }
    }
  }

  private void use(Session<byte[], BytesFunctions.Result, Object> session, Use use) {
    int number = next++;
    ByteSpan key = key(number % KEYS);
    switch (use) {
      case INSERT -> session.upsert(key(KEYS + number), ByteSpan.of(new byte[8]), null);
      case UPSERT -> session.upsert(key, ByteSpan.of(new byte[8 + 8 * (number % 3)]), null);
      case RMW -> session.rmw(key, new byte[1], null);
      case READ -> session.read(key, new byte[0], new BytesFunctions.Result(), null);
      case DELETE -> session.delete(key, null);
      case TOUCH -> session.prefetch(new ByteSpan[] {key}, 1);
      case COMPACT -> store.log().compact();
    }
  }

  @ParameterizedTest
  @EnumSource(Use.class)
  void anOperationOnLongsThatOverflowsTheStackNeverHoldsOthersUp(Use use) {
    open(RecordKind.LONGS);
    try (var session = store.newSession().longs(LongFunctions.sum());
        var other = store.newSession().longs(LongFunctions.sum())) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int key = 0; key < KEYS; key++) {
          session.upsert(key, 8, null);
        }
        assertThat(Stacks.overflow(() -> use(session, use), () -> use(session, use))).isPositive();
        assertNothingIsHeld();
        for (int key = 0; key < KEYS; key++) {
          other.rmw(key, 1, null);
          session.rmw(key, 1, null);
        }
      }
    }
  }

  private void use(LongSession<Object> session, Use use) {
    int number = next++;
    int key = number % KEYS;
    switch (use) {
      case INSERT -> session.upsert(KEYS + number, 1, null);
      case UPSERT -> session.upsert(key, 1, null);
      case RMW -> session.rmw(key, 1, null);
      case READ, TOUCH -> session.read(key, null);
      case DELETE -> session.delete(key, null);
      case COMPACT -> store.log().compact();
    }
  }

  private void assertNothingIsHeld() {
    Engine engine = Insides.engine(store);
    assertThat(engine.epochs().safeEpoch()).isEqualTo(engine.epochs().currentEpoch() - 1);
    assertThat(engine.log().failure().isSet()).isFalse();
    store.checkpoints().take();
    StoreInvariants.check(store);
  }

  private static ByteSpan key(int number) {
    return HashedKeys.numbered(number, number);
  }
}

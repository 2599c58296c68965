package io.fasterkv.flink.records.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.records.DeadParts;
import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a long key is stored for as long as its value, and no longer. */
@Tag("seeds")
class KeyRecordsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEMORY_BYTES = 768 << 10;
  private static final int PAGE_BYTES = 16 << 10;
  private static final int KEY_BYTES = 20_000;
  private static final int KEYS = 12;
  private static final int VALUE_BYTES = 100;
  private static final int ROUNDS = 5_000;

  @TempDir Path directory;

  private final CompositeKey key = new CompositeKey();
  private @Nullable Runnable whenKeyGoes;

  private TestRecords open() {
    return new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, CatchingRule::new, false);
  }

  /** Runs {@link #whenKeyGoes} when a key record is about to be dropped. */
  private final class CatchingRule implements KeepRule {
    private final DeadParts parts;

    CatchingRule(ValueIncarnations incarnations) {
      parts = new DeadParts(incarnations);
    }

    @Override
    public boolean keepsAll() {
      return parts.keepsAll();
    }

    @Override
    public boolean keeps(ByteSpan record, ByteSpan value, Lookup store) {
      boolean keeps = parts.keeps(record, value, store);
      Runnable action = whenKeyGoes;
      boolean isHead = KeyLayout.sub(record) == 0;
      if (!keeps && isHead && LongKeyLayout.isOfKeyRecord(record) && action != null) {
        whenKeyGoes = null;
        action.run();
      }
      return keeps;
    }
  }

  private CompositeKey key(int state, int number) {
    byte[] bytes = new byte[KEY_BYTES];
    bytes[0] = (byte) number;
    key.setKey(number, bytes, 0, bytes.length);
    return key.select(state, new byte[] {1}, 0, 1);
  }

  /** Writes a value, a list or a map, depending on the number of the state. */
  private void write(TestRecords test, int state, int number) {
    byte[] bytes = new byte[VALUE_BYTES];
    switch (state % 3) {
      case 0 -> test.records.values().put(key(state, number), bytes, bytes.length);
      case 1 -> test.records.lists().append(key(state, number), bytes, 0, bytes.length);
      default -> test.records.maps().put(key(state, number), bytes, 1, bytes.length - 1);
    }
  }

  private void remove(TestRecords test, int state, int number) {
    switch (state % 3) {
      case 0 -> test.records.values().remove(key(state, number));
      case 1 -> test.records.lists().remove(key(state, number));
      default -> test.records.maps().clear(key(state, number));
    }
  }

  /** One state of each key is removed; two states with the same digest are not. */
  @Test
  void keyRecordsGoWithTheirValues() {
    try (TestRecords test = open()) {
      for (int number = 0; number < KEYS; number++) {
        for (int state = 0; state < 3; state++) {
          write(test, state, number);
        }
        remove(test, number % 3, number);
      }
      compactAll(test);
      List<byte[]> records = keyRecords(test);
      assertThat(records).noneMatch(record -> isRemoved(record));
      assertThat(records)
          .filteredOn(record -> KeyLayout.sub(record, 0, record.length) == 0)
          .hasSize(2 * KEYS);
      for (int number = 0; number < KEYS; number++) {
        for (int state = 0; state < 3; state++) {
          CompositeKey found = new CompositeKey();
          boolean isThere = test.records.select(key(state, number).head(), found);
          assertThat(isThere).isEqualTo(state != number % 3);
          assertThat(!isThere || found.hasPrefix(key.copyOfPrefix())).isTrue();
        }
      }
    }
  }

  private static boolean isRemoved(byte[] record) {
    return KeyLayout.state(record, 0) == KeyLayout.keyGroup(record, 0) % 3;
  }

  private static List<byte[]> keyRecords(TestRecords test) {
    List<byte[]> records = new ArrayList<>();
    long end = test.store.log().tailAddress();
    try (LogScan scan =
        test.store.log().scan(test.store.log().beginAddress(), end, Versions.LIVE)) {
      while (scan.next()) {
        if (LongKeyLayout.isOfKeyRecord(scan.key())) {
          records.add(scan.key().toArray());
        }
      }
    }
    return records;
  }

  /**
   * The value is written after compaction has decided to drop its key, and before it drops the key.
   */
  @Test
  void aKeyStaysThatIsWrittenWhenItsKeyRecordIsAboutToGo() {
    for (int state = 0; state < 3; state++) {
      int of = state;
      try (TestRecords test = open()) {
        write(test, of, 1);
        remove(test, of, 1);
        whenKeyGoes = () -> write(test, of, 1);
        compactUntil(test, () -> whenKeyGoes == null);
        compactAll(test);
        CompositeKey found = new CompositeKey();
        assertThat(test.records.select(key(of, 1).head(), found)).isTrue();
        assertThat(found.hasPrefix(key.copyOfPrefix())).isTrue();
      }
    }
  }

  /** Values are written and removed while another thread compacts all the time. */
  @Tag("slow")
  @Test
  void keysOfLiveValuesStayDuringCompaction() throws Throwable {
    AtomicBoolean isOver = new AtomicBoolean();
    try (TestRecords test = open()) {
      Thread compaction =
          Thread.ofPlatform()
              .start(() -> {
                while (!isOver.get()) {
                  test.store.log().compact();
                }
              });
      try {
        Seeds.run(1, random -> comeAndGo(test, random));
      } finally {
        isOver.set(true);
        compaction.join();
      }
    }
  }

  private void comeAndGo(TestRecords test, SplittableRandom random) {
    CompositeKey found = new CompositeKey();
    boolean[] isThere = new boolean[KEYS];
    for (int i = 0; i < ROUNDS; i++) {
      int number = random.nextInt(KEYS);
      isThere[number] = random.nextInt(3) > 0;
      if (isThere[number]) {
        write(test, number % 3, number);
      } else {
        remove(test, number % 3, number);
      }
      if (i % 20 == 0) {
        test.store.log().cut().close(); // Lets compaction reach the last writes.
      }
      int other = random.nextInt(KEYS);
      ByteSpan head = ByteSpan.of(key(other % 3, other).head().toArray());
      assertThat(test.records.select(head, found)).isEqualTo(isThere[other]);
    }
  }

  /** Compaction drops a key record piece by piece. */
  @Test
  void anIncompleteKeyIsNotFoundAfterItsValueIsRemoved() {
    try (TestRecords test = open()) {
      write(test, 0, 1);
      byte[] head = key(0, 1).head().toArray();
      try (RecordCopies copies = new RecordCopies(test.store)) {
        copies.delete(new CompositeKey().setKeyRecord(ByteSpan.of(head)).record(1));
      }
      CompositeKey found = new CompositeKey();
      assertThatThrownBy(() -> test.records.select(ByteSpan.of(head), found))
          .isInstanceOf(MissingPart.class);
      remove(test, 0, 1);
      assertThat(test.records.select(ByteSpan.of(head), found)).isFalse();
    }
  }

  @Test
  void aKeyIsNotWrittenAgainWhileItsHeadIsUpdatedInPlace() {
    try (TestRecords test = open()) {
      byte[] value = new byte[VALUE_BYTES];
      CompositeKey written = key(0, 1);
      test.records.values().put(written, value, value.length);
      long before = test.records.operations();
      for (int i = 0; i < 100; i++) {
        test.records.values().put(written, value, value.length);
      }
      assertThat(test.records.operations() - before).isEqualTo(100);
    }
  }

  /** Compacts twice, since a value and its key may be in the same part of the log. */
  private void compactAll(TestRecords test) {
    for (int pass = 0; pass < 2; pass++) {
      long end = test.store.log().tailAddress();
      compactUntil(test, () -> test.store.log().beginAddress() >= end);
    }
  }

  private void compactUntil(TestRecords test, BooleanSupplier isOver) {
    byte[] other = new byte[VALUE_BYTES];
    long start = System.nanoTime();
    while (!isOver.getAsBoolean()) {
      // New writes let the begin address move past all existing records.
      test.records.values().put(test.key(99), other, other.length);
      test.store.log().cut().close();
      test.store.log().compact();
      assertThat(System.nanoTime() - start)
          .as(() ->
              "log "
                  + test.store.statistics().logBytes()
                  + ", "
                  + test.store.statistics().compaction())
          .isLessThan(PATIENCE.toNanos());
    }
  }
}

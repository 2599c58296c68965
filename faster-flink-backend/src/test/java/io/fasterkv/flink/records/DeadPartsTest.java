package io.fasterkv.flink.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.MissingPart;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.list.ListSnapshot;
import io.fasterkv.flink.records.map.ByteMaps;
import io.fasterkv.flink.records.map.MapCursor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that compaction drops the remains of removed values from disk, and nothing else. */
class DeadPartsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final long LOOK_NANOS = 10_000_000;
  private static final int MEMORY_BYTES = 192 << 10;
  private static final int ELEMENT_BYTES = 900;
  private static final int WINDOW_BYTES = 1 << 20;

  @TempDir Path directory;

  /** Writes and removes one window of 1 MiB: a list, a map or a value, in turn. */
  private static void window(TestRecords test, int number) {
    byte[] element = new byte[ELEMENT_BYTES];
    int key = number % 12;
    switch (number % 3) {
      case 0 -> {
        for (int written = 0; written < WINDOW_BYTES; written += ELEMENT_BYTES) {
          test.records.lists().append(test.key(key), element, 0, element.length);
        }
        readAll(Objects.requireNonNull(test.records.lists().read(test.key(key))));
        test.records.lists().remove(test.key(key));
      }
      case 1 -> {
        for (int written = 0; written < WINDOW_BYTES; written += ELEMENT_BYTES) {
          byte[] entry = element.clone();
          MemorySegment.ofArray(entry).set(java.lang.foreign.ValueLayout.JAVA_BYTE, 0, (byte) 1);
          MemorySegment.ofArray(entry)
              .set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 1, written);
          test.records.maps().put(test.key(key), entry, 5, entry.length - 5);
        }
        test.records.maps().clear(test.key(key));
      }
      default -> {
        test.records.values().put(test.key(key), new byte[WINDOW_BYTES], WINDOW_BYTES);
        test.records.values().remove(test.key(key));
      }
    }
  }

  private static int readAll(ListSnapshot chunks) {
    Bytes group = new Bytes();
    int bytes = 0;
    for (int next = ListSnapshot.FIRST; next != ListSnapshot.END; ) {
      next = chunks.readGroup(next, group);
      bytes += group.length();
    }
    return bytes;
  }

  @Tag("slow")
  @Test
  void theLogOfTemporaryWindowsStaysShort() {
    assertLogStaysShort(60);
  }

  @Test
  @Tag("long")
  void theLogOfManyTemporaryWindowsStaysShort() {
    assertLogStaysShort(150);
  }

  private void assertLogStaysShort(int windows) {
    try (TestRecords test = new TestRecords(directory, MEMORY_BYTES)) {
      byte[] kept = new byte[WINDOW_BYTES];
      Arrays.fill(kept, (byte) 7);
      test.records.values().put(test.key(99), kept, kept.length);
      long longest = 0;
      for (int number = 0; number < windows; number++) {
        window(test, number);
        longest = Math.max(longest, test.store.statistics().logBytes());
      }
      // No thread writes any more. One collection is enough; more would leave compaction no time to
      // run.
      System.gc();
      long start = System.nanoTime();
      while (test.store.statistics().logBytes() > 2L * WINDOW_BYTES) {
        LockSupport.parkNanos(LOOK_NANOS);
        assertThat(System.nanoTime() - start)
            .as(() ->
                "log "
                    + test.store.statistics().logBytes()
                    + ", "
                    + test.store.statistics().compaction())
            .isLessThan(PATIENCE.toNanos());
      }
      assertThat(longest).isLessThan(50L * WINDOW_BYTES);
      Bytes read = new Bytes();
      assertThat(test.records.values().get(test.key(99), read)).isTrue();
      assertThat(Arrays.copyOfRange(read.array(), 1, read.length()))
          .isEqualTo(Arrays.copyOfRange(kept, 1, kept.length));
    }
  }

  @Test
  void aListThatWasReadIsWholeAfterItWasClearedAndCompacted() {
    try (TestRecords test = new TestRecords(directory, MEMORY_BYTES)) {
      ByteLists lists = test.records.lists();
      byte[] element = new byte[ELEMENT_BYTES];
      for (int i = 0; i < 500; i++) {
        lists.append(test.key(1), element, 0, element.length);
      }
      ListSnapshot reader = Objects.requireNonNull(lists.read(test.key(1)));
      ListSnapshot another = Objects.requireNonNull(lists.read(test.key(1)));
      int whole = readAll(reader);
      lists.remove(test.key(1));
      compactAll(test);
      assertThat(readAll(reader)).isEqualTo(whole);
      for (int i = 0; i < 100; i++) {
        lists.append(test.key(1), element, 0, element.length);
      }
      ListSnapshot second = Objects.requireNonNull(lists.read(test.key(1)));
      lists.set(test.key(1), element, 0, 100);
      compactAll(test);
      assertThat(readAll(reader)).isEqualTo(whole);
      assertThat(readAll(second)).isEqualTo(100 * (ELEMENT_BYTES + 1) - 100);
      assertThat(readAll(another)).isEqualTo(whole);
      assertThat(readAll(Objects.requireNonNull(lists.read(test.key(1))))).isEqualTo(100);
    }
  }

  private static void compactAll(TestRecords test) {
    test.store.log().cut().close();
    for (int pass = 0; pass < 2; pass++) {
      test.store.log().compact();
      test.store.log().cut().close();
    }
  }

  @Test
  void aMapThatIsClearedWhileItIsIteratedEndsThere() {
    try (TestRecords test = new TestRecords(directory, MEMORY_BYTES)) {
      ByteMaps maps = test.records.maps();
      byte[] entry = new byte[500];
      for (int i = 0; i < 2_000; i++) {
        MemorySegment.ofArray(entry).set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0, i);
        maps.put(test.key(1), entry, 4, entry.length - 4);
      }
      MapCursor cursor = Objects.requireNonNull(maps.entries(test.key(1)));
      assertThat(cursor.next()).isTrue();
      maps.clear(test.key(2));
      int seen = 1;
      while (seen < 100) {
        assertThat(cursor.next()).isTrue();
        seen++;
      }
      maps.clear(test.key(1));
      for (int i = 5_000; i < 7_000; i++) {
        MemorySegment.ofArray(entry).set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0, i);
        maps.put(test.key(1), entry, 4, entry.length - 4);
      }
      while (cursor.next()) {
        seen++;
      }
      assertThat(seen).isLessThan(120);
    }
  }

  @Tag("slow")
  @Test
  void partsThatWaitForTheirHeadStay() throws Exception {
    assertThat(lost(DeadParts::new, 300)).isFalse();
  }

  /** Shows that the test above can fail. */
  @Test
  void aRuleThatDoesNotAskWhichHeadsAreWrittenLosesParts() throws Exception {
    assertThat(lost(incarnations -> new HeadsAlone(), Integer.MAX_VALUE)).isTrue();
  }

  /**
   * A broken rule, kept unchanged: it keeps a part if the head now in the store has its
   * incarnation.
   */
  private static final class HeadsAlone implements KeepRule {
    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      if (KeyLayout.sub(key) == 0) {
        return true;
      }
      byte[] headKey = key.toArray();
      KeyLayout.putSub(headKey, headKey.length, 0);
      ByteSpan head = store.find(ByteSpan.of(headKey));
      return head != null && PartLayout.ofHead(head) == PartLayout.ofPart(value);
    }
  }

  /** Whether values that are written during compaction lose parts. */
  private boolean lost(Function<ValueIncarnations, KeepRule> rule, int writes) throws Exception {
    try (TestRecords test = new TestRecords(directory, MEMORY_BYTES, 4 << 10, rule, true)) {
      AtomicBoolean isOver = new AtomicBoolean();
      Thread compaction =
          Thread.ofPlatform()
              .start(() -> {
                while (!isOver.get()) {
                  test.store.log().compact();
                }
              });
      try {
        Bytes read = new Bytes();
        long start = System.nanoTime();
        for (int i = 0; i < writes && System.nanoTime() - start < PATIENCE.toNanos(); i++) {
          test.records.values().put(test.key(1), new byte[WINDOW_BYTES / 2], WINDOW_BYTES / 2);
          assertThat(test.records.values().get(test.key(1), read)).isTrue();
        }
        return false;
      } catch (MissingPart lost) {
        assertThat(lost).hasMessageContaining("state=state 1").hasMessageContaining("keyGroup=1");
        return true;
      } finally {
        isOver.set(true);
        compaction.join();
      }
    }
  }

  @Test
  void aPartThatIsMissingIsAnErrorUnlessPartsExpire() {
    try (TestRecords test = new TestRecords(directory, MEMORY_BYTES)) {
      byte[] element = new byte[ELEMENT_BYTES];
      for (int i = 0; i < 100; i++) {
        test.records.lists().append(test.key(1), element, 0, element.length);
      }
      test.delete(1, 50);
      assertThatThrownBy(
              () -> readAll(Objects.requireNonNull(test.records.lists().read(test.key(1)))))
          .isInstanceOf(MissingPart.class)
          .hasMessageContaining("part=50");
      test.incarnations.noteTimed(1);
      assertThat(readAll(Objects.requireNonNull(test.records.lists().read(test.key(1)))))
          .isEqualTo(99 * ELEMENT_BYTES);
    }
  }
}

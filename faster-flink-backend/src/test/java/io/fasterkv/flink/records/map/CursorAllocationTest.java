package io.fasterkv.flink.records.map;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.TestRecords;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how many heap bytes an iteration over a map allocates. */
class CursorAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int CALLS = 20_000;

  @TempDir Path directory;

  private TestRecords test;

  @BeforeEach
  void open() {
    test = new TestRecords(directory, 4 << 20, 16 << 10);
  }

  @AfterEach
  void close() {
    test.close();
  }

  /** Bytes that one call allocates, after a warm-up with the same number of calls. */
  private static long bytes(Runnable call) {
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    return (THREADS.getCurrentThreadAllocatedBytes() - before) / CALLS;
  }

  @Test
  void anAbsentMapAllocatesNearlyNothing() {
    CompositeKey absent = test.key(1);
    ByteMaps maps = test.records.maps();
    long bytes = bytes(() -> assertThat(maps.entries(absent) == null).isTrue());
    assertThat(bytes).isLessThan(256);
  }

  /** Only the cursor, its copies of the key and the entries, and the objects that sort them. */
  @Test
  void aSmallMapAllocatesLittleBesidesItsEntries() {
    ByteMaps maps = test.records.maps();
    for (int i = 0; i < 5; i++) {
      maps.put(test.key(1), ByteBuffer.allocate(8).putInt(i).array(), 4, 4);
    }
    CompositeKey key = test.key(1);
    assertThat(bytes(() -> walk(maps, key))).isLessThan(1_000);
  }

  private static void walk(ByteMaps maps, CompositeKey key) {
    MapCursor cursor = Objects.requireNonNull(maps.entries(key));
    int seen = 0;
    while (cursor.next()) {
      seen++;
    }
    if (seen != 5) {
      throw new AssertionError("entries=" + seen);
    }
  }

  /** Cursors share scratch memory, but none sees data that another has read. */
  @Test
  void nestedIterationsDoNotDisturbEachOther() {
    ByteMaps maps = test.records.maps();
    int[] sizes = {5, 200, 30_000};
    for (int map = 0; map < sizes.length; map++) {
      for (int i = 0; i < sizes[map]; i++) {
        maps.put(test.key(map), ByteBuffer.allocate(8).putInt(i).putInt(map).array(), 4, 4);
      }
    }
    for (int outer = 0; outer < sizes.length; outer++) {
      MapCursor cursor = Objects.requireNonNull(maps.entries(test.key(outer)));
      int seen = 0;
      while (cursor.next()) {
        if (seen++ % 1_000 == 3) {
          for (int inner = 0; inner < sizes.length; inner++) {
            assertThat(count(maps, inner)).isEqualTo(sizes[inner]);
          }
        }
        assertThat(ByteBuffer.wrap(cursor.bytes()).getInt(cursor.valueAt())).isEqualTo(outer);
      }
      assertThat(seen).isEqualTo(sizes[outer]);
    }
  }

  private int count(ByteMaps maps, int map) {
    MapCursor cursor = Objects.requireNonNull(maps.entries(test.key(map)));
    int seen = 0;
    while (cursor.next()) {
      seen++;
    }
    return seen;
  }
}

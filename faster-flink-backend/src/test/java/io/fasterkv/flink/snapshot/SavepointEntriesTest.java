package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.snapshot.StateExport.Shape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that values too large for Flink's savepoint format are rejected with a helpful message. */
class SavepointEntriesTest {
  private static final int KEY_GROUP = 3;
  private static final int ELEMENTS = 200;
  private static final int ELEMENT_BYTES = 100;

  @TempDir Path directory;

  private final CompositeKey key = new CompositeKey();
  private TestRecords test;

  @BeforeEach
  void open() {
    test = new TestRecords(directory);
    key.setKey(KEY_GROUP, new byte[] {1}, 0, 1);
    key.select(0, new byte[1], 0, 1);
  }

  @AfterEach
  void close() {
    test.close();
  }

  @Test
  void aListThatFitsNoArrayIsRefused() throws Exception {
    for (int i = 0; i < ELEMENTS; i++) {
      test.records.lists().append(key, new byte[ELEMENT_BYTES], 0, ELEMENT_BYTES);
    }
    // The length includes a separator between two elements.
    assertLimit(Shape.LIST, ELEMENTS * (ELEMENT_BYTES + 1) - 1);
  }

  @Test
  void aSingleValueThatFitsNoArrayIsRefused() throws Exception {
    int bytes = ELEMENTS * ELEMENT_BYTES;
    int withTag = ValueLayout.TAG_BYTES + bytes;
    test.records.values().put(key, new byte[withTag], withTag);
    assertLimit(Shape.SINGLE, bytes);
  }

  @Test
  void aMapValueThatFitsNoArrayIsRefused() throws Exception {
    int bytes = ELEMENTS * ELEMENT_BYTES;
    test.records.maps().put(key, new byte[1 + bytes], 1, bytes);
    assertRefused(Shape.MAP, bytes);
  }

  /** Asserts that values of {@code bytes} bytes fit that limit, and no lower one. */
  private void assertLimit(Shape shape, int bytes) throws IOException {
    assertThat(firstValue(shape, bytes)).hasSize(bytes);
    assertRefused(shape, bytes - 1);
  }

  private void assertRefused(Shape shape, int mostBytes) {
    assertThatThrownBy(() -> firstValue(shape, mostBytes))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("too long for Flink's savepoint format")
        .hasMessageContaining("state=my state, keyGroup=3, allowed=up to " + mostBytes + " bytes")
        .hasMessageContaining("native savepoints")
        .hasMessageContaining("execution.checkpointing.incremental: true");
  }

  private byte[] firstValue(Shape shape, int mostBytes) throws IOException {
    try (RecordSorter sorter =
        new RecordSorter(directory, 1 << 16, new Cancellation(), System.getLogger("test"))) {
      try (LogCut cut = test.store.log().cut();
          LogScan scan = cut.scan()) {
        while (scan.next()) {
          sorter.add(scan.key(), scan.isTombstone() ? null : scan.value());
        }
      }
      StateExport export = new StateExport("my state", shape, false, false, null);
      try (SortedRecords sorted = sorter.sorted()) {
        SavepointEntries entries = new SavepointEntries(sorted, List.of(export), 1, mostBytes);
        assertThat(entries.next()).isTrue();
        return entries.value();
      }
    }
  }
}

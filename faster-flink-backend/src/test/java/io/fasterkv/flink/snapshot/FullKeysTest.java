package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.RecordCopies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that digests of long keys are replaced with the keys, and that damage is reported. */
class FullKeysTest {
  private static final int KEY_GROUP = 3;
  private static final int STATE = 2;
  private static final int KEY_BYTES = 20_000;

  @TempDir Path directory;

  private final CompositeKey key = new CompositeKey();
  private TestRecords test;

  @BeforeEach
  void open() {
    test = new TestRecords(directory);
    byte[] bytes = new byte[KEY_BYTES];
    key.setKey(KEY_GROUP, bytes, 0, bytes.length);
    key.select(STATE, bytes, 0, 1);
  }

  @AfterEach
  void close() {
    test.close();
  }

  @Test
  void allRecordsOfAValueHaveTheFullKey() throws Exception {
    byte[] value = new byte[10_000];
    test.records.values().put(key, value, value.length);
    List<byte[]> keys = keys();
    assertThat(keys).hasSizeGreaterThan(2);
    for (int sub = 0; sub < keys.size(); sub++) {
      byte[] found = keys.get(sub);
      assertThat(KeyLayout.sub(found, 0, found.length)).isEqualTo(sub);
      assertThat(Arrays.copyOf(found, found.length - KeyLayout.SUB_BYTES))
          .isEqualTo(key.copyOfPrefix());
    }
  }

  /** The bytes of a piece with another incarnation belong to another value. */
  @Test
  void aPieceOfAnotherIncarnationIsNotPartOfTheKey() throws Exception {
    test.records.values().put(key, new byte[1], 1);
    assertThat(keys()).hasSize(1);
    ByteSpan piece = ByteSpan.of(new CompositeKey().setKeyRecord(key.head()).record(1).toArray());
    byte[] other = value(piece);
    other[0]++;
    try (RecordCopies copies = new RecordCopies(test.store)) {
      copies.put(piece, ByteSpan.of(other));
    }
    assertThatThrownBy(this::keys)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the key of a value is missing, the store is damaged")
        .hasMessageContaining("state=2, keyGroup=3");
  }

  /** Compaction drops the remains later. */
  @Test
  void remainsOfARemovedValueAreNotShown() throws Exception {
    byte[] value = new byte[10_000];
    test.records.values().put(key, value, value.length);
    try (RecordCopies copies = new RecordCopies(test.store)) {
      copies.delete(new CompositeKey().setKeyRecord(key.head()).head());
      test.records.values().remove(key);
    }
    assertThat(keys()).isEmpty();
  }

  private byte[] value(ByteSpan record) throws IOException {
    try (LogCut cut = test.store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        if (Arrays.equals(scan.key().toArray(), record.toArray())) {
          return scan.value().toArray();
        }
      }
    }
    throw new AssertionError("the record is missing");
  }

  private List<byte[]> keys() throws IOException {
    List<byte[]> keys = new ArrayList<>();
    try (RecordSorter sorter =
        new RecordSorter(directory, 1 << 16, new Cancellation(), System.getLogger("test"))) {
      try (LogCut cut = test.store.log().cut();
          LogScan scan = cut.scan()) {
        while (scan.next()) {
          sorter.add(scan.key(), scan.isTombstone() ? null : scan.value());
        }
      }
      try (SortedRecords sorted = new FullKeys(sorter.sorted())) {
        while (sorted.next()) {
          int start = sorted.keyStart();
          keys.add(Arrays.copyOfRange(sorted.keyBytes(), start, start + sorted.keyLength()));
        }
      }
    }
    return keys;
  }
}

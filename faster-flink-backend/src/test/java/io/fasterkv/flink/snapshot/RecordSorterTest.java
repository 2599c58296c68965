package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("seeds")
class RecordSorterTest {
  @TempDir Path directory;

  @Test
  void behavesLikeATreeMapAndLeavesNoFiles() throws Throwable {
    Seeds.run(
        10,
        random -> {
          Map<byte[], byte[]> expected =
              new TreeMap<>((a, b) -> KeyLayout.compare(a, 0, a.length, b, 0, b.length));
          CompositeKey key = new CompositeKey();
          int buffer = 1 << random.nextInt(8, 18);
          int keys = 1 << random.nextInt(4, 14);
          try (RecordSorter sorter =
              new RecordSorter(directory, buffer, new Cancellation(), System.getLogger("test"))) {
            for (int i = 0; i < 20_000; i++) {
              byte[] bytes = Seeds.bytes(new SplittableRandom(random.nextInt(keys)), 9);
              key.setKey(bytes[0] & 3, bytes, 1, bytes[1] & 7);
              ByteSpan record = key.select(0, new byte[1], 0, 1).record(bytes[2] & 3);
              if (random.nextInt(4) == 0) {
                sorter.add(record, null);
                expected.remove(record.toArray());
              } else {
                byte[] value = Seeds.bytes(random, random.nextInt(40));
                sorter.add(record, ByteSpan.of(value));
                expected.put(record.toArray(), value);
              }
            }
            compare(sorter, expected);
          }
          assertThat(files()).isZero();
        });
  }

  private static void compare(RecordSorter sorter, Map<byte[], byte[]> expected)
      throws IOException {
    Iterator<Map.Entry<byte[], byte[]>> entries = expected.entrySet().iterator();
    try (SortedRecords sorted = sorter.sorted()) {
      while (sorted.next()) {
        Map.Entry<byte[], byte[]> entry = entries.next();
        assertThat(part(sorted.keyBytes(), sorted.keyStart(), sorted.keyLength()))
            .isEqualTo(entry.getKey());
        assertThat(part(sorted.valueBytes(), sorted.valueStart(), sorted.valueLength()))
            .isEqualTo(entry.getValue());
      }
    }
    assertThat(entries).isExhausted();
  }

  private static byte[] part(byte[] bytes, int start, int length) {
    return Arrays.copyOfRange(bytes, start, start + length);
  }

  @Test
  void aCancelledSortStopsAndLeavesNoFiles() throws IOException {
    Cancellation cancellation = new Cancellation();
    CompositeKey key = new CompositeKey();
    try (RecordSorter sorter =
        new RecordSorter(directory, 256, cancellation, System.getLogger("test"))) {
      key.setKey(1, new byte[40], 0, 40);
      ByteSpan record = key.select(0, new byte[1], 0, 1).head();
      for (int i = 0; i < 100; i++) {
        sorter.add(record, ByteSpan.of(new byte[50]));
      }
      assertThat(files()).isPositive();
      cancellation.close();
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 100; i++) {
                  sorter.add(record, ByteSpan.of(new byte[50]));
                }
              })
          .isInstanceOf(CancellationException.class);
    }
    assertThat(files()).isZero();
  }

  private long files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.count();
    }
  }
}

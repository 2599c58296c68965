package io.fasterkv.flink.records;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.records.base.Values;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.list.ListSnapshot;
import io.fasterkv.flink.records.map.ByteMaps;
import io.fasterkv.flink.records.map.EntryBatch;
import io.fasterkv.flink.records.map.EntryCursor;
import io.fasterkv.flink.records.map.MapCursor;
import io.fasterkv.flink.records.map.MapLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the cost of each access, in operations on the store and in bytes, for state of any size.
 */
class OperationCountsTest {
  private static final int LIMIT = Records.limit(4 << 10);
  private static final int ELEMENT_BYTES = 8;

  @TempDir Path directory;

  private TestRecords test;

  @BeforeEach
  void open() {
    test = new TestRecords(directory);
  }

  @AfterEach
  void close() {
    test.close();
  }

  private CompositeKey key() {
    return test.key(1);
  }

  /** Number of operations on the store during an access. */
  private long operations(Runnable access) {
    long before = test.records.operations();
    access.run();
    return test.records.operations() - before;
  }

  private void append(int element) {
    byte[] bytes = number(element);
    test.records.lists().append(key(), bytes, 0, bytes.length);
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(ELEMENT_BYTES).putInt(number).array();
  }

  /** Puts an entry with a user key and a value of four bytes each. */
  private void put(int userKey) {
    test.records.maps().put(key(), number(userKey), 4, 4);
  }

  @Test
  void aValueIsReadAndWrittenByOneOperation() {
    Values values = test.records.values();
    assertThat(operations(() -> values.put(key(), new byte[9], 9))).isEqualTo(1);
    assertThat(operations(() -> values.put(key(), new byte[9], 9))).isEqualTo(1);
    assertThat(operations(() -> values.get(key(), new Bytes()))).isEqualTo(1);
    assertThat(operations(() -> values.remove(key()))).isEqualTo(1);
  }

  @Test
  void aValueThatFitsTheOldOnesPlaceDoesNotLetTheLogGrow() {
    Values values = test.records.values();
    values.put(key(), new byte[40], 40);
    long before = test.store.statistics().logBytes();
    for (int length = 40; length > 0; length--) {
      values.put(key(), new byte[length], length);
    }
    assertThat(test.store.statistics().logBytes()).isEqualTo(before);
  }

  @Test
  void aShortListIsReplacedByOneOperationAndReadByOne() {
    ByteLists lists = test.records.lists();
    append(1);
    assertThat(operations(() -> lists.set(key(), number(2), 0, ELEMENT_BYTES))).isEqualTo(1);
    long before = test.store.statistics().logBytes();
    assertThat(operations(() -> lists.set(key(), number(3), 0, ELEMENT_BYTES))).isEqualTo(1);
    assertThat(test.store.statistics().logBytes()).isEqualTo(before);
    assertThat(operations(() -> Objects.requireNonNull(lists.read(key())).whole())).isEqualTo(1);
  }

  @Test
  void anAppendTouchesTheHeadAndTheLastChunkHoweverLongTheList() {
    for (int i = 0; i < 50_000; i++) {
      int element = i;
      // Head, full chunk, next chunk, head; three more operations when the list outgrows its head.
      int most = i < 1_000 ? 7 : 4;
      assertThat(operations(() -> append(element))).isLessThanOrEqualTo(most);
    }
  }

  @Test
  void aLongListIsReadChunkByChunk() {
    int elements = 50_000;
    for (int i = 0; i < elements; i++) {
      append(i);
    }
    ListSnapshot chunks = Objects.requireNonNull(test.records.lists().read(key()));
    Bytes group = new Bytes();
    int next = ListSnapshot.FIRST;
    long bytes = 0;
    long groups = 0;
    while (next != ListSnapshot.END) {
      int at = next;
      long before = test.records.operations();
      next = chunks.readGroup(at, group);
      assertThat(test.records.operations() - before).isEqualTo(1);
      assertThat(group.length()).isLessThanOrEqualTo(ListLayout.CHUNK_BYTES);
      bytes += group.length();
      groups++;
    }
    assertThat(bytes).isEqualTo(elements * (ELEMENT_BYTES + 1L) - groups);
  }

  @Test
  void anAppendWithAnOpenReaderCopiesOnlyOneChunk() {
    for (int i = 0; i < 50_000; i++) {
      append(i);
    }
    ListSnapshot reader = Objects.requireNonNull(test.records.lists().read(key()));
    // One more operation makes the copy.
    assertThat(operations(() -> append(1))).isLessThanOrEqualTo(5);
    assertThat(operations(() -> append(2))).isLessThanOrEqualTo(4);
    assertThat(reader.isOnHeap()).isFalse();
  }

  @Tag("slow")
  @Test
  void accessesToOneEntryCostTheSameWhateverTheMapsSize() {
    ByteMaps maps = test.records.maps();
    Bytes value = new Bytes();
    int size = 0;
    for (int wanted : new int[] {10, 1_000, 30_000}) {
      while (size < wanted) {
        put(size++);
      }
      int last = size - 1;
      assertThat(operations(() -> maps.get(key(), number(last), 0, 4, value))).isEqualTo(1);
      assertThat(operations(() -> maps.get(key(), number(-1), 0, 4, value))).isEqualTo(1);
      assertThat(operations(() -> put(last))).isEqualTo(1);
      assertThat(operations(() -> maps.isEmpty(key()))).isLessThanOrEqualTo(1);
      assertThat(operations(() -> maps.remove(key(), number(last), 0, 4))).isEqualTo(1);
      assertThat(operations(() -> maps.remove(key(), number(last), 0, 4))).isEqualTo(1);
      assertThat(operations(() -> put(last))).isEqualTo(1);
    }
  }

  /** The first access to a map reads or edits its head; the head is then kept. */
  @Test
  void theFirstAccessToAMapCostsItsHeadOnce() {
    ByteMaps maps = test.records.maps();
    Bytes value = new Bytes();
    for (int i = 0; i < 1_000; i++) {
      put(i);
    }
    assertThat(operationsAfterAnotherMap(() -> maps.get(key(), number(7), 0, 4, value)))
        .isEqualTo(2);
    assertThat(operationsAfterAnotherMap(() -> put(7))).isEqualTo(2);
    assertThat(operationsAfterAnotherMap(() -> maps.remove(key(), number(7), 0, 4))).isEqualTo(2);
    assertThat(operationsAfterAnotherMap(() -> put(7))).isEqualTo(2);
  }

  /** A split takes a read of the old bucket, writes of both and of the head. */
  @Tag("slow")
  @Test
  void aPutIntoAMapTakesOneOperationAndSeldomMore() {
    for (int i = 0; i < 1_000; i++) {
      put(i);
    }
    int puts = 30_000;
    long all = 0;
    for (int i = 1_000; i < puts; i++) {
      int next = i;
      long each = operations(() -> put(next));
      assertThat(each).isBetween(1L, 5L);
      all += each;
    }
    int perBucket = MapLayout.bucketBytes(LIMIT) / EntryCursor.entryBytes(4, 4);
    assertThat(all).isLessThan(puts + 5L * puts / perBucket);
  }

  private long operationsAfterAnotherMap(Runnable access) {
    ByteMaps maps = test.records.maps();
    for (int i = 0; i < 1_000; i++) {
      maps.put(test.key(2), number(i), 4, 4);
    }
    return operations(access);
  }

  @Test
  void aRemovalFromAnInlineMapIsOneUpdate() {
    ByteMaps maps = test.records.maps();
    put(1);
    put(2);
    assertThat(operations(() -> maps.remove(key(), number(3), 0, 4))).isEqualTo(1);
    assertThat(operations(() -> maps.remove(key(), number(1), 0, 4))).isEqualTo(1);
    // Removing the last entry also deletes the record.
    assertThat(operations(() -> maps.remove(key(), number(2), 0, 4))).isEqualTo(2);
    assertThat(operations(() -> maps.remove(key(), number(2), 0, 4))).isEqualTo(1);
  }

  @Tag("slow")
  @Test
  void aPutWritesABucketAtMostHoweverLargeTheMap() {
    for (int i = 0; i < 30_000; i++) {
      put(i);
    }
    long before = test.store.statistics().logBytes();
    int puts = 1_000;
    for (int i = 0; i < puts; i++) {
      put(i * 7);
    }
    // Most of the map is on disk, so each put copies its bucket to the tail.
    assertThat(test.store.statistics().logBytes() - before)
        .isLessThan((long) puts * MapLayout.bucketLimit(LIMIT));
  }

  @Test
  void aSmallMapIsOneRecord() {
    ByteMaps maps = test.records.maps();
    for (int i = 0; i < 50; i++) {
      int userKey = i;
      assertThat(operations(() -> put(userKey))).isEqualTo(1);
    }
    assertThat(LiveRecords.count(test)).isEqualTo(1);
    assertThat(operations(() -> walk(maps))).isEqualTo(1);
    assertThat(operations(() -> maps.clear(key()))).isEqualTo(1);
    assertThat(LiveRecords.count(test)).isZero();
  }

  @Test
  void entriesThatAreAddedTogetherAreOneWriteOfASmallMap() {
    byte[] bytes = new byte[20 * ELEMENT_BYTES];
    EntryBatch batch = new EntryBatch().in(bytes);
    for (int i = 0; i < 20; i++) {
      ByteBuffer.wrap(bytes).putInt(i * ELEMENT_BYTES, i);
      batch.add(i * ELEMENT_BYTES + 4, (i + 1) * ELEMENT_BYTES);
    }
    assertThat(operations(() -> test.records.maps().putAll(key(), batch))).isEqualTo(1);
    assertThat(walk(test.records.maps())).isEqualTo(20);
    long before = test.store.statistics().logBytes();
    assertThat(operations(() -> test.records.maps().putAll(key(), batch))).isEqualTo(1);
    assertThat(test.store.statistics().logBytes()).isEqualTo(before);
    assertThat(walk(test.records.maps())).isEqualTo(20);
  }

  @Tag("slow")
  @Test
  void anIterationReadsManyEntriesAtATime() {
    int entries = 20_000;
    for (int i = 0; i < entries; i++) {
      put(i);
    }
    int bucketBytes = MapLayout.bucketBytes(LIMIT);
    int perBucket = bucketBytes / EntryCursor.entryBytes(4, 4);
    // Buckets are at least nine tenths full, on average.
    assertThat(operations(() -> assertThat(walk(test.records.maps())).isEqualTo(entries)))
        .isLessThanOrEqualTo(2L + entries * 10L / 9 / perBucket);
  }

  /** Finding an entry costs the same for values of 1 KiB and 100 KiB. */
  @Test
  void aLargeEntryIsFoundByItsKeyAlone() {
    ByteMaps maps = test.records.maps();
    for (int i = 0; i < 1_000; i++) {
      put(i);
    }
    byte[] large = Arrays.copyOf(number(-1), 100 << 10);
    maps.put(key(), large, 4, large.length - 4);
    // Reads the bucket, reads it again to the heap, and reads one of a hundred records.
    assertThat(
            operations(() -> assertThat(maps.contains(key(), large, 0, 4, new Bytes())).isTrue()))
        .isEqualTo(3);
    assertThat(maps.contains(key(), number(-2), 0, 4, new Bytes())).isFalse();
    Bytes value = new Bytes();
    assertThat(maps.get(key(), large, 0, 4, value)).isTrue();
    assertThat(value.length()).isEqualTo(large.length - 4);
  }

  /** Maps each {@code long} to a {@code long}, with a byte that says whether the value is null. */
  @Tag("slow")
  @Test
  void aMapOfLongsIsReadSixtyFourEntriesAtATime() {
    int entries = 100_000;
    try (TestRecords large = new TestRecords(directory, 2 << 20, 16 << 10)) {
      ByteMaps maps = large.records.maps();
      byte[] entry = new byte[2 * Long.BYTES + 1];
      for (int i = 0; i < entries; i++) {
        ByteBuffer.wrap(entry).putLong(i);
        maps.put(large.key(1), entry, Long.BYTES, entry.length - Long.BYTES);
      }
      long before = large.records.operations();
      MapCursor cursor = Objects.requireNonNull(maps.entries(large.key(1)));
      for (int i = 0; i < entries; i++) {
        assertThat(cursor.next()).isTrue();
      }
      assertThat(cursor.next()).isFalse();
      assertThat(large.records.operations() - before).isLessThanOrEqualTo(2 + entries / 64);
    }
  }

  private long walk(ByteMaps maps) {
    MapCursor cursor = Objects.requireNonNull(maps.entries(key()));
    long seen = 0;
    while (cursor.next()) {
      seen++;
    }
    return seen;
  }

  @Test
  void clearingAShortListOrValueIsOneOperation() {
    append(1);
    assertThat(operations(() -> test.records.lists().remove(key()))).isEqualTo(1);
  }

  @Tag("slow")
  @Test
  void clearingIsOneOperationHoweverMuchThereIs() {
    clear(1_000);
  }

  @Test
  @Tag("long")
  void clearingIsOneOperationForTenTimesAsMuchToo() {
    clear(10_000);
  }

  /** Both before and after the state has contained values of several records. */
  private void clear(int records) {
    byte[] chunk = new byte[ListLayout.chunkBytes(9, LIMIT) - ListLayout.CHUNK_HEAD_BYTES - 1];
    ByteLists lists = test.records.lists();
    for (int i = 0; i < records; i++) {
      lists.append(key(), chunk, 0, chunk.length);
    }
    assertThat(operations(() -> lists.remove(key()))).isEqualTo(1);
    assertThat(operations(() -> assertThat(lists.read(key())).isNull())).isEqualTo(1);
    assertThat(operations(() -> lists.remove(key()))).isEqualTo(1);
    lists.append(key(), chunk, 0, chunk.length);
    lists.append(key(), chunk, 0, chunk.length);
    assertThat(operations(() -> lists.set(key(), chunk, 0, 10))).isEqualTo(1);
    // Writes two chunks and the head.
    byte[] two = new byte[3 * chunk.length / 2];
    assertThat(operations(() -> lists.set(key(), two, 0, two.length))).isEqualTo(3);
    lists.remove(key());

    ByteMaps maps = test.records.maps();
    byte[] entry = Arrays.copyOf(number(0), 200);
    int puts = 0;
    while (maps.splits() < records) {
      ByteBuffer.wrap(entry).putInt(puts++);
      maps.put(key(), entry, 4, entry.length - 4);
    }
    assertThat(operations(() -> assertThat(maps.isEmpty(key())).isFalse())).isZero();
    assertThat(operations(() -> maps.clear(key()))).isEqualTo(1);
    assertThat(operations(() -> assertThat(maps.isEmpty(key())).isTrue())).isEqualTo(1);
    assertThat(operations(() -> maps.clear(key()))).isEqualTo(1);

    Values values = test.records.values();
    byte[] large = new byte[1 << 20];
    int pieces = ValueLayout.pieces(large.length - ValueLayout.TAG_BYTES, LIMIT);
    assertThat(operations(() -> values.put(key(), large, large.length))).isEqualTo(pieces + 1);
    assertThat(operations(() -> values.put(key(), large, large.length))).isEqualTo(pieces + 1);
    assertThat(operations(() -> values.put(key(), new byte[9], 9))).isEqualTo(1);
    values.put(key(), large, large.length);
    assertThat(operations(() -> values.remove(key()))).isEqualTo(1);
    assertThat(LiveRecords.count(test)).isZero();
  }

  /** This also holds while the snapshot that was read is still reachable. */
  @Test
  void clearingAListThatIsReadCopiesNothing() {
    for (int i = 0; i < 50_000; i++) {
      append(i);
    }
    ByteLists lists = test.records.lists();
    ListSnapshot reader = Objects.requireNonNull(lists.read(key()));
    assertThat(operations(() -> lists.remove(key()))).isEqualTo(1);
    // The snapshot's first chunks are copied when the next list's chunks are written.
    for (int i = 0; i < 100; i++) {
      append(i);
    }
    byte[] element = new byte[1000];
    assertThat(operations(() -> lists.append(key(), element, 0, 1000))).isLessThanOrEqualTo(9);
    assertThat(reader.isOnHeap()).isFalse();
  }
}

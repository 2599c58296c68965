package io.fasterkv.flink.timers;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.state.StateRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.testutils.statemigration.TestType;
import org.apache.flink.runtime.testutils.statemigration.TestType.V1TestTypeSerializer;
import org.apache.flink.runtime.testutils.statemigration.TestType.V2TestTypeSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a queue that was written by a serializer with another format. */
class QueueMigrationTest {
  private static final int KEY_GROUPS = 8;

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"2000, 40", "1000, 300", "100, 9000"})
  void elementsAreRewrittenInTheNewFormatAndStayInOrder(int elements, int keyBytes)
      throws Exception {
    try (TestRecords test = new TestRecords(directory)) {
      StoreTimers timers =
          new StoreTimers(
              KeyGroupRange.of(0, KEY_GROUPS - 1),
              KEY_GROUPS,
              new StateRegistry(),
              test.records.trees());
      RestoredQueue restored =
          timers.restored(
              new RegisteredPriorityQueueStateBackendMetaInfo<>("queue", new V1TestTypeSerializer())
                  .snapshot());
      DataOutputSerializer out = new DataOutputSerializer(64);
      for (int i = 0; i < elements; i++) {
        out.clear();
        new V1TestTypeSerializer().serialize(element(i, keyBytes), out);
        int keyGroup =
            KeyGroupRangeAssignment.assignToKeyGroup(element(i, keyBytes).getKey(), KEY_GROUPS);
        restored.add(keyGroup, out.getCopyOfBuffer(), 0);
      }

      V2TestTypeSerializer now = new V2TestTypeSerializer();
      KeyGroupedInternalPriorityQueue<TestType> queue = timers.queue("queue", now, false);
      assertThat(queue.size()).isEqualTo(elements);
      queue.add(element(elements, keyBytes));
      for (int i = 0; i <= elements; i++) {
        TestType polled = queue.poll();
        assertThat(polled).isEqualTo(element(i, keyBytes));
        assertThat(polled.getKey()).isEqualTo(element(i, keyBytes).getKey());
      }
      assertThat(queue.poll()).isNull();
      assertThat(timers.queue("queue", now, false)).isSameAs(queue);
    }
  }

  /** Keys have the order of the values and equal lengths, so that their bytes are in order too. */
  private static TestType element(int value, int keyBytes) {
    byte[] key = new byte[keyBytes];
    Arrays.fill(key, (byte) 'k');
    byte[] digits = String.format("%06d", value).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(digits, 0, key, 0, digits.length);
    return new TestType(new String(key, StandardCharsets.US_ASCII), value);
  }
}

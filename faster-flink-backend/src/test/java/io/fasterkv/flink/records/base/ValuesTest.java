package io.fasterkv.flink.records.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.records.LiveRecords;
import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("seeds")
class ValuesTest {
  @TempDir Path directory;

  @Test
  void behavesLikeAHashMapWithValuesFromNothingToManyPages() throws Throwable {
    Seeds.run(
        8,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            Values values = test.records.values();
            Map<Integer, byte[]> expected = new HashMap<>();
            Bytes read = new Bytes();
            for (int step = 0; step < 2_000; step++) {
              int number = random.nextInt(20);
              int kind = random.nextInt(100);
              if (kind < 10) {
                values.remove(test.key(number));
                expected.remove(number);
              } else if (kind < 50) {
                int most = random.nextInt(10) == 0 ? 60_000 : random.nextInt(3) == 0 ? 1_500 : 30;
                byte[] value = Seeds.bytes(random, 1 + random.nextInt(most));
                expected.put(number, Arrays.copyOfRange(value, 1, value.length));
                values.put(test.key(number), value, value.length);
              } else {
                boolean found = values.get(test.key(number), read);
                assertThat(found).isEqualTo(expected.containsKey(number));
                if (found) {
                  assertThat(Arrays.copyOfRange(read.array(), 1, read.length()))
                      .isEqualTo(expected.get(number));
                }
              }
            }
            for (int number = 0; number < 20; number++) {
              values.remove(test.key(number));
            }
            assertThat(LiveRecords.count(test)).isZero();
          }
        });
  }

  @Tag("slow")
  @Test
  void aValueOfAHundredMegabytesFitsPagesOfFourKilobytes() {
    try (TestRecords test = new TestRecords(directory)) {
      byte[] value = new byte[100 << 20];
      for (int i = 1; i < value.length; i += 1_000) {
        value[i] = (byte) i;
      }
      test.records.values().put(test.key(1), value, value.length);
      Bytes read = new Bytes();
      assertThat(test.records.values().get(test.key(1), read)).isTrue();
      assertThat(Arrays.mismatch(value, 1, value.length, read.array(), 1, read.length()))
          .isNegative();
    }
  }
}

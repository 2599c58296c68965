package io.fasterkv.bench.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests that keys keep their values when their order changes. */
class StateDataTest {
  private static final int KEYS = 1003;

  @Test
  void eachKeyKeepsItsValueAndItsEntry() {
    StateData data = new StateData(KEYS, 2 * KEYS, 1);
    Map<Long, Long> values = new HashMap<>();
    Map<Long, Integer> entries = new HashMap<>();
    for (int place = 0; place < KEYS; place++) {
      values.put(data.setUpKeys[place], data.values[place]);
      entries.put(data.setUpKeys[place], place % StateData.MAP_KEYS);
    }
    long[] before = data.setUpKeys.clone();

    data.reorder();

    int moved = 0;
    for (int place = 0; place < KEYS; place++) {
      long key = data.setUpKeys[place];
      assertThat(data.values[place]).isEqualTo(values.get(key));
      assertThat(place % StateData.MAP_KEYS).isEqualTo(entries.get(key));
      moved += key == before[place] ? 0 : 1;
    }
    assertThat(moved).isGreaterThan(KEYS / 2);
    assertThat(LongStream.of(data.setUpKeys).boxed()).hasSize(KEYS).doesNotHaveDuplicates();
  }
}

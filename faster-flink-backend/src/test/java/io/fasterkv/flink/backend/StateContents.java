package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;

/** Compares states with their expected contents in java.util collections. */
final class StateContents {
  private StateContents() {}

  static void checkList(ListState<byte[]> list, List<byte[]> expected) throws Exception {
    Iterable<byte[]> elements = list.get();
    assertThat(elements == null ? List.<byte[]>of() : elements)
        .usingElementComparator(Arrays::compare)
        .containsExactlyElementsOf(expected);
  }

  static void checkMap(MapState<String, byte[]> map, Map<String, byte[]> expected)
      throws Exception {
    Map<String, byte[]> found = new HashMap<>();
    int count = 0;
    for (Map.Entry<String, byte[]> entry : map.entries()) {
      found.put(entry.getKey(), entry.getValue());
      count++;
    }
    assertThat(found).hasSize(count).containsOnlyKeys(expected.keySet());
    expected.forEach((key, value) -> assertThat(found.get(key)).isEqualTo(value));
  }

  /** Checks a map without a time to live: expired entries count for {@code isEmpty}. */
  static void checkUntimedMap(MapState<String, byte[]> map, Map<String, byte[]> expected)
      throws Exception {
    checkMap(map, expected);
    assertThat(map.isEmpty()).isEqualTo(expected.isEmpty());
  }
}

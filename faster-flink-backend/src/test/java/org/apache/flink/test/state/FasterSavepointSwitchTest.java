package org.apache.flink.test.state;

import io.fasterkv.flink.TestSettings;
import java.util.List;
import org.apache.flink.test.state.BackendSwitchSpecs.BackendSwitchSpec;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs Flink's own suite for canonical savepoints, between this backend, hashmap and rocksdb in all
 * directions.
 */
@ExtendWith(ParameterizedTestExtension.class)
@Tag("long")
public class FasterSavepointSwitchTest extends SavepointStateBackendSwitchTestBase {

  public FasterSavepointSwitchTest(BackendSwitchSpec from, BackendSwitchSpec to) {
    super(from, to);
  }

  @Parameters(name = "from {0} to {1}")
  public static List<Object[]> pairs() {
    BackendSwitchSpec roomy = new FasterSwitchSpec(TestSettings.ROOMY);
    BackendSwitchSpec tiny = new FasterSwitchSpec(TestSettings.TINY);
    BackendSwitchSpec heapTimers = new FasterSwitchSpec(TestSettings.HEAP_TIMERS);
    BackendSwitchSpec heap = BackendSwitchSpecs.HEAP;
    BackendSwitchSpec rocks = BackendSwitchSpecs.ROCKS;
    BackendSwitchSpec rocksHeapTimers = BackendSwitchSpecs.ROCKS_HEAP_TIMERS;
    return List.of(
        new Object[] {roomy, heap},
        new Object[] {roomy, rocks},
        new Object[] {roomy, rocksHeapTimers},
        new Object[] {roomy, tiny},
        new Object[] {heap, roomy},
        new Object[] {rocks, roomy},
        new Object[] {rocksHeapTimers, roomy},
        new Object[] {tiny, heap},
        new Object[] {tiny, rocks},
        new Object[] {heap, tiny},
        new Object[] {rocks, tiny},
        new Object[] {rocksHeapTimers, tiny},
        new Object[] {tiny, rocksHeapTimers},
        new Object[] {tiny, heapTimers},
        new Object[] {heapTimers, tiny},
        new Object[] {roomy, heapTimers},
        new Object[] {heapTimers, roomy},
        new Object[] {heapTimers, heap},
        new Object[] {heap, heapTimers},
        new Object[] {heapTimers, rocks},
        new Object[] {rocks, heapTimers},
        new Object[] {heapTimers, rocksHeapTimers},
        new Object[] {rocksHeapTimers, heapTimers});
  }
}

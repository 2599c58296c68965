package io.fasterkv.cpr;

import io.fasterkv.Seeds;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests named sessions on threads of their own that write keys of their own and shared keys, while
 * checkpoints of every kind are taken, the log is compacted and the index resized. In each
 * recovered checkpoint, every session has exactly one prefix of its operations: all operations that
 * ended before the checkpoint was requested, some of those during the checkpoint, and none after
 * it. The seed is in the test's name.
 */
@Tag("seeds")
class PrefixTest {
  /** More than the version bits in a record's header can distinguish. */
  private static final int VERSIONS = 70;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  static LongStream oneSeed() {
    return Seeds.fresh(1);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everySessionHasOnePrefix(long seed) {
    new PrefixRun(seed, directory).start();
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("oneSeed")
  void everySessionHasOnePrefixAlsoWhenVersionsWrap(long seed) {
    new PrefixRun(seed, directory).withCheckpoints(VERSIONS).start();
  }
}

package io.fasterkv.cpr;

import io.fasterkv.Seeds;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Named sessions on threads of their own, that write keys of their own and keys of all, while
 * checkpoints of every kind are taken, the log is compacted and the index resized. From each
 * checkpoint that is then recovered, every session comes back with exactly one prefix of what it
 * did: all that ended before the checkpoint was asked for, some of what came while it was taken,
 * nothing after. The seed is in the test's name.
 */
class PrefixTest {
  /** More than a record's header can tell apart. */
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

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("oneSeed")
  void everySessionHasOnePrefixAlsoWhenVersionsWrap(long seed) {
    new PrefixRun(seed, directory).withCheckpoints(VERSIONS).start();
  }
}

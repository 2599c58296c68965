package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.checkpoint.BrokenShifts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that {@link PrefixRun} detects what a version shift omits. */
@Tag("seeds")
class BrokenShiftTest {
  private static final int MOST_SEEDS = 60;

  @TempDir Path directory;

  private interface Sabotage {
    PrefixRun on(PrefixRun run);
  }

  @Test
  void detectsACheckpointThatDoesNotCompletePendingOperations() throws IOException {
    assertSeen(run -> run.drivenBy(BrokenShifts::withoutWaitPending));
  }

  @Test
  void pointsThatAreTakenTooLateAreSeen() throws IOException {
    assertSeen(run -> run.drivenBy(sound -> BrokenShifts.withLatePoints(sound, run::serials)));
  }

  @Test
  void aShiftThatOperationsOfTheOldVersionKnowNothingOfIsSeen() throws IOException {
    assertSeen(run -> run.drivenBy(BrokenShifts::withoutPrepare));
  }

  private void assertSeen(Sabotage sabotage) throws IOException {
    for (int i = 1; i <= MOST_SEEDS; i++) {
      long seed = Seeds.fresh(1).findFirst().getAsLong();
      Path own = Files.createTempDirectory(directory, "seed-");
      try {
        sabotage.on(new PrefixRun(seed, own)).start();
      } catch (AssertionError e) {
        System.out.println("seen with seed " + i + ": " + rootOf(e).getMessage());
        // The model finds another sum; or an update finds a value that is being changed in place.
        assertThat(rootOf(e).getMessage()).containsAnyOf("expected", "torn");
        return;
      }
    }
    throw new AssertionError("not seen with any of so many seeds: " + MOST_SEEDS);
  }

  private static Throwable rootOf(Throwable e) {
    return e.getCause() == null ? e : rootOf(e.getCause());
  }
}

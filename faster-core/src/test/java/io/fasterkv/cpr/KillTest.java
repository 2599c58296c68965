package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.cpr.CprStore.Commit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a process with several independent sessions that is killed at random moments with SIGKILL
 * and then restarted from its files. Each time, every session is recovered with exactly one prefix
 * of its operations: at least the operations in the last checkpoint that was reported as durable,
 * and nothing after its commit point. {@code -Dkills=200} is the long run.
 */
@Tag("seeds")
class KillTest {
  private static final int KILLS = Integer.getInteger("kills", 10);
  private static final int KILLS_OF_A_SEED = 5;
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(120);
  private static final int MOST_COMMITS = 12;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(Math.max(1, KILLS / KILLS_OF_A_SEED));
  }

  /**
   * Half as many seeds, each of a store that merges: the first such seed from a fresh one on, so
   * that a given seed is replayed.
   */
  static LongStream mergingSeeds() {
    return Seeds.fresh(Math.max(1, KILLS / KILLS_OF_A_SEED / 2))
        .map(fresh ->
            LongStream.iterate(fresh, seed -> seed + 1)
                .filter(KillTest::isMerging)
                .findFirst()
                .orElseThrow());
  }

  private static boolean isMerging(long seed) {
    return new Setup(new SplittableRandom(seed), Path.of(""), true).isMerging();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everySessionIsRecoveredWithOnePrefix(long seed) throws IOException, InterruptedException {
    new Run(seed, directory).start();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("mergingSeeds")
  @Tag("long")
  void everySessionOfAStoreThatMergesIsRecoveredWithOnePrefix(long seed)
      throws IOException, InterruptedException {
    new Run(seed, directory).start();
  }

  private static final class Run {
    private final long seed;
    private final Path directory;
    private final SplittableRandom random;
    private final Setup setup;
    private final Script script;
    private final Lives lives;

    /** The newest checkpoint that the process reported as durable. */
    private String lastLine = KillVictim.NOTHING;

    Run(long seed, Path directory) {
      this.seed = seed;
      this.directory = directory;
      SplittableRandom stable = new SplittableRandom(seed);
      setup = new Setup(stable, directory, true);
      script = KillVictim.script(seed, stable);
      lives = new Lives(script.sessions());
      random = new SplittableRandom(~seed);
    }

    void start() throws IOException, InterruptedException {
      for (int life = 0; life < KILLS_OF_A_SEED; life++) {
        try {
          killOne(life);
          check(life);
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError(
              "seed " + seed + ", life " + life + ", lastLine: " + lastLine + ", " + setup, e);
        }
      }
    }

    /** Lets the process take a few checkpoints and run for a while, and kills it. */
    private void killOne(int life) throws IOException, InterruptedException {
      Process process = process(life);
      try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
        int commits = random.nextInt(MOST_COMMITS);
        String line = lines.readLine();
        if (line == null) {
          throw new AssertionError("the process has failed: exit=" + process.waitFor());
        }
        assertThat(line).isEqualTo(KillVictim.READY);
        for (int i = 0; i < commits && (line = lines.readLine()) != null; i++) {
          lastLine = line;
        }
        LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE_NANOS));
        assertThat(process.isAlive()).as("the process is still running").isTrue();
        // Process.destroyForcibly() would close the stream, and the last lines would be lost.
        process.toHandle().destroyForcibly();
        readRest(lines);
      } finally {
        process.destroyForcibly();
        process.waitFor();
      }
    }

    /** Reads the lines written before the kill; a line without its end mark does not count. */
    private void readRest(BufferedReader lines) {
      try {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.endsWith(KillVictim.END)) {
            lastLine = line;
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Process process(int life) throws IOException {
      return new ProcessBuilder(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx256m",
                  "-XX:TieredStopAtLevel=1",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  KillVictim.class.getName(),
                  directory.toString(),
                  Long.toString(seed),
                  lives.encode(),
                  Integer.toString(life)))
          .redirectError(ProcessBuilder.Redirect.INHERIT)
          .start();
    }

    private void check(int life) {
      long[] least = reportedNumbers();
      StoreConfig config = setup.config(random);
      try (CprStore store = CprStore.openOrRecover(config, setup.device(config))) {
        Commit found = store.recovered();
        assertThat(found.number()).as("newest checkpoint").isGreaterThanOrEqualTo(least[0]);
        for (int session = 0; session < least.length - 1; session++) {
          long point = found.point(session);
          assertThat(point).as("session " + session).isGreaterThanOrEqualTo(least[session + 1]);
          if (found.number() == least[0]) {
            assertThat(point).as("session " + session).isEqualTo(least[session + 1]);
          }
        }
        new Verifier(script, lives).check(store, found, setup.maxBytes());
        StoreInvariants.check(store.store());
        for (int session = 0; session < script.sessions(); session++) {
          lives.begin(life + 1, session, found.point(session));
        }
      }
    }

    private long[] reportedNumbers() {
      String numbers =
          lastLine.substring(
              KillVictim.COMMIT.length(), lastLine.length() - KillVictim.END.length());
      return Stream.of(numbers.split(" ")).mapToLong(Long::parseLong).toArray();
    }
  }
}

package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests checkpoints of every kind that fail at the first, the second, and every other request for
 * their own files, while sessions have updates pending. The store continues. The next checkpoint
 * includes what the failed one would have committed, and a crash before it leads back to the last
 * successful one. The seed is in the test's name.
 */
@Tag("seeds")
class FailedCheckpointTest {
  private static final int STEPS = 40;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void theStoreContinuesAndNoPrefixIsLost(long seed) {
    try {
      new Run(seed).start();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  /**
   * Fails one request that is not for the log; a failure of the log would stop the store for good.
   */
  private static final class OneFault implements DiskFaults {
    private int left;
    private String hit;

    OneFault(int left) {
      this.left = left;
    }

    private void count(String what, String file) throws IOException {
      if (!isOfLog() && left-- == 0) {
        hit = what + " of " + file;
        throw new IOException("Input/output error: " + hit);
      }
    }

    private static boolean isOfLog() {
      return StackWalker.getInstance()
          .walk(frames ->
              frames.anyMatch(frame ->
                  frame.getClassName().startsWith("io.fasterkv.device.file.SegmentFiles")));
    }

    @Override
    public int beforeWrite(String file, long position, int bytes) throws IOException {
      count("write", file);
      return bytes;
    }

    @Override
    public void beforeForce(String file) throws IOException {
      count("force", file);
    }

    @Override
    public void beforeName(String file) throws IOException {
      count("name", file);
    }
  }

  private static final class Run {
    private final SimulatedDisk disk = new SimulatedDisk();
    private final SplittableRandom random;
    private final Setup setup;
    private final Script script;
    private final Lives lives;
    private int life;
    private Commit last;

    Run(long seed) {
      random = new SplittableRandom(seed);
      setup = new Setup(random, disk.directory(), true);
      script = new Script(seed, 2, 30);
      lives = new Lives(2);
    }

    void start() {
      for (int kind = 0; kind < CprStore.REQUESTS.size(); kind++) {
        boolean isOver = false;
        for (int fault = 0; !isOver; fault++) {
          isOver = live(kind, fault);
        }
      }
    }

    /**
     * Runs a life with checkpoints of one kind that fail at one request; returns true if there is
     * no such request.
     */
    private boolean live(int kind, int fault) {
      StoreConfig config = setup.config(random);
      List<Worker> workers = new ArrayList<>();
      try (CprStore store = CprStore.openOrRecover(config, setup.device(config))) {
        if (last != null && store.recovered().number() <= last.number()) {
          assertThat(store.recovered()).isEqualTo(last);
        }
        new Verifier(script, lives).check(store, store.recovered(), setup.maxBytes());
        StoreInvariants.check(store.store());
        life++;
        for (int session = 0; session < script.sessions(); session++) {
          lives.begin(life, session, store.point(session));
          StampedSession named = store.anySession(session, random, setup.maxBytes());
          workers.add(new Worker(named, script, session, store.point(session), lives));
        }
        advance(workers);
        boolean hasFailed = fails(store, kind, fault);
        advance(workers);
        workers.forEach(Worker::completePending);
        StoreInvariants.check(store.store());
        advance(workers);
        if (!hasFailed || random.nextBoolean()) {
          last = store.checkpoint(CprStore.REQUESTS.get(kind));
          for (Worker worker : workers) {
            assertThat(last.points().get(worker.name()).serial()).isEqualTo(worker.serial());
          }
          advance(workers);
        }
        workers.forEach(Worker::close);
        return !hasFailed;
      }
    }

    private boolean fails(CprStore store, int kind, int number) {
      OneFault fault = new OneFault(number);
      disk.setFaults(fault);
      try {
        Commit done = store.checkpoint(CprStore.REQUESTS.get(kind));
        last = done;
        assertThat(fault.hit).as("an unreported fault").isNull();
        return false;
      } catch (DeviceFailed e) {
        assertThat(fault.hit).isNotNull();
        return true;
      } finally {
        disk.setFaults(DiskFaults.NONE);
      }
    }

    private void advance(List<Worker> workers) {
      for (int i = random.nextInt(STEPS); i > 0; i--) {
        workers.get(random.nextInt(workers.size())).advance();
      }
    }
  }
}

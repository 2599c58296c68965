package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.log.HybridLog;
import org.junit.jupiter.api.Test;

/**
 * Tests a thread that stops while freezing a page, after moving the read-only address; another
 * thread announces the address. Later operations change nothing on the page.
 */
class FreezeTest {
  private static final int PAGE_BYTES = 4096;

  @Test
  void nothingThatIsSafelyReadOnlyIsUpdatedInPlace() {
    HookedClasses.create(
            Scenario.class, Runnable.class, "io.fasterkv.log.LogMarks", "advanceReadOnly")
        .run();
  }

  /** Runs on classes in which a thread can be stopped at the read-only address. */
  static final class Scenario implements Runnable {
    private static final ByteSpan KEY = HashedKeys.numbered(5, 1);

    @Override
    public void run() {
      StoreConfig config =
          StoreConfig.inMemory()
              .memoryBytes(1 << 20)
              .logMemoryBytes(16 * PAGE_BYTES)
              .pageBytes(PAGE_BYTES)
              .keyHash(HashedKeys::hash)
              .build();
      try (FasterStore store = FasterStore.open(config);
          var session = store.newSession().spans(StoppingSum.plain())) {
        session.rmw(KEY, 1L, null);
        HybridLog log = Insides.engine(store).log();
        long end = log.pageEnd(log.tailAddress());
        for (int i = 0; log.tailAddress() <= end; i++) {
          session.upsert(HashedKeys.numbered(6, i), ByteSpan.of(new byte[900]), null);
        }
        Pause pause = new Pause();
        pause.start(() -> {
          Hook.stopAfter(pause);
          log.cuts().freeze(end);
        });
        while (log.safeReadOnlyAddress() < end) {
          log.assist();
        }
        assertThat(session.rmw(KEY, 1L, null)).isEqualTo(Status.COPIED);
        pause.finish();
        StoreInvariants.check(store);
      }
    }
  }
}

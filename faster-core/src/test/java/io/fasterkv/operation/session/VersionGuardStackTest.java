package io.fasterkv.operation.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.Stacks;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Request;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.operation.version.StoreVersions;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a session that runs out of stack when it first sees the next version. */
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VersionGuardStackTest {
  private static final int SHIFTS = 4;

  @TempDir Path directory;

  @Tag("slow")
  @Test
  void aPointHasNoOperationThatIsAcceptedInTheNextVersion() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .logMemoryBytes(16L * 4096)
            .pageBytes(4096)
            .indexBytes(1 << 16)
            .build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Engine engine = Insides.engine(store);
      StoreVersions versions = engine.versions();
      SessionCounters.Stripe counters = engine.sessionCounters().open();
      VersionGuard guard = new VersionGuard(engine, SessionIdentity.start("one"), counters, null);
      Operation<Void, Void, Void> op = new Operation<>(engine);
      op.kind = Request.Kind.READ;
      guard.begin(op);
      for (int shift = 0; shift < SHIFTS; shift++) {
        counters.accepted();
        long serial = guard.sessionVersion().serial();
        long next = SystemState.version(versions.state().word()) + 1;
        versions.state().set(Phase.IN_PROGRESS, next);
        assertThat(Stacks.overflow(() -> guard.begin(op), () -> guard.begin(op))).isPositive();
        counters.accepted();
        versions.crossAll(next);
        assertThat(guard.sessionVersion().point()).isEqualTo(new CommitPoint(serial, List.of()));
        versions.state().set(Phase.REST, next);
        guard.begin(op);
      }
      op.close();
      guard.withdraw();
      engine.sessionCounters().close(counters);
    }
  }
}

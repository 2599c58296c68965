package io.fasterkv.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.Stacks;
import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.device.MemoryDevice;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A session that finds no stack where it first sees the next version. */
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VersionGuardStackTest {
  private static final int SHIFTS = 4;

  @TempDir Path directory;

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
      ChainSteps.Stripe steps = engine.chainSteps().open();
      VersionGuard guard = new VersionGuard(engine, SessionIdentity.start("one"), steps, null);
      Operation<Void, Void, Void> op = new Operation<>(engine);
      op.kind = Operation.Kind.READ;
      guard.begin(op);
      for (int shift = 0; shift < SHIFTS; shift++) {
        steps.accepted();
        long serial = guard.participant().serial();
        long next = SystemState.version(versions.state().word()) + 1;
        versions.state().set(Phase.IN_PROGRESS, next);
        assertThat(Stacks.overflow(() -> guard.begin(op), () -> guard.begin(op))).isPositive();
        steps.accepted();
        versions.crossAll(next);
        assertThat(guard.participant().point()).isEqualTo(new CommitPoint(serial, List.of()));
        versions.state().set(Phase.REST, next);
        guard.begin(op);
      }
      op.close();
      guard.withdraw();
      engine.chainSteps().close(steps);
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.Commit;
import io.fasterkv.api.checkpoint.CommitListener;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests named sessions: serial numbers, commit points, and successive lives. */
class SessionIdentityTest {
  @TempDir Path directory;

  private final MemoryDevice device = new MemoryDevice();

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(8 * 4096)
        .pageBytes(4096)
        .indexBytes(1024)
        .recordKind(RecordKind.LONGS)
        .build();
  }

  private static LongSession<Void> session(FasterStore store, SessionIdentity identity) {
    return store.newSession().identity(identity).longs(LongFunctions.<Void>sum());
  }

  @Test
  void eachOperationCountsOnceOnEveryPath() {
    try (FasterStore store = FasterStore.open(config(), device);
        LongSession<Void> session = session(store, SessionIdentity.start("a"))) {
      assertThat(session.name()).isEqualTo("a");
      session.upsert(1, 1, null);
      session.rmw(1, 1, null);
      session.read(1, null);
      session.read(2, null);
      session.delete(1, null);
      session.delete(1, null);
      assertThat(session.serial()).isEqualTo(6);
      long[] keys = {3, 4, 3, 1};
      Status[] statuses = new Status[4];
      session.upsert(keys, keys, statuses, 0, 4, null);
      session.rmw(keys, keys, statuses, 0, 4, null);
      session.read(keys, new long[4], statuses, 0, 4, null);
      assertThat(session.serial()).isEqualTo(18);
    }
  }

  @Test
  void aNameStartsOnceIsResumedWhenClosedAndMayBeForgotten() {
    try (FasterStore store = FasterStore.open(config(), device)) {
      try (LongSession<Void> first = session(store, SessionIdentity.start("a"))) {
        first.rmw(1, 1, null);
        assertThatThrownBy(() -> session(store, SessionIdentity.resume("a")))
            .isInstanceOf(BadConfig.class)
            .hasMessageContaining("name=a")
            .hasMessageContaining("open");
        assertThatThrownBy(() -> store.forgetSession("a")).isInstanceOf(BadConfig.class);
      }
      assertThatThrownBy(() -> session(store, SessionIdentity.start("a")))
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("serial=1");
      try (LongSession<Void> again = session(store, SessionIdentity.resume("a"))) {
        assertThat(again.serial()).isEqualTo(1);
      }
      assertThatThrownBy(() -> session(store, SessionIdentity.resume("b")))
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("allowed=[a]");
      assertThat(store.forgetSession("a")).isTrue();
      assertThat(store.forgetSession("a")).isFalse();
      session(store, SessionIdentity.start("a")).close();
    }
  }

  private static CommitPoint point(long serial) {
    return new CommitPoint(serial, List.of());
  }

  @Test
  void commitsHaveThePointsOfAllWhetherTheyAreOpenOrNot() {
    List<Commit> commits = new ArrayList<>();
    try (FasterStore store = FasterStore.open(config(), device)) {
      CommitListener.Registration listening = store.checkpoints().onCommit(commits::add);
      LongSession<Void> open = session(store, SessionIdentity.start("open"));
      try (LongSession<Void> closed = session(store, SessionIdentity.start("closed"))) {
        closed.rmw(1, 1, null);
      }
      store.checkpoints().take();
      open.rmw(1, 1, null);
      open.rmw(1, 1, null);
      store.checkpoints().take();
      open.rmw(1, 1, null);
      listening.close();
      store.checkpoints().take();
      open.close();
    }
    assertThat(commits).hasSize(2);
    assertThat(commits.get(0).points())
        .containsEntry("open", point(0))
        .containsEntry("closed", point(1));
    assertThat(commits.get(1).points())
        .containsEntry("open", point(2))
        .containsEntry("closed", point(1));
    assertThat(commits.get(1).version()).isEqualTo(commits.get(0).version() + 1);
    try (FasterStore store = FasterStore.recover(config(), commits.get(1).token(), device);
        LongSession<Void> resumed = session(store, SessionIdentity.resume("open"))) {
      assertThat(resumed.serial()).isEqualTo(2);
      assertThat(resumed.read(1, null)).isEqualTo(Status.FOUND);
      assertThat(resumed.value()).isEqualTo(3);
    }
  }

  @Test
  void aNameIsNotEmptyAndNotTooLong() {
    assertThatThrownBy(() -> SessionIdentity.start("")).isInstanceOf(BadConfig.class);
    assertThatThrownBy(() -> SessionIdentity.start("ä".repeat(128)))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("bytes=256");
  }
}

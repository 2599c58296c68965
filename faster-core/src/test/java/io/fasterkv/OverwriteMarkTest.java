package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the permanent mark on a record whose key has a newer record further up in the chain. */
class OverwriteMarkTest {
  private static final ByteSpan KEY = ByteSpan.of(new byte[] {1, 2, 3, 4});

  @TempDir Path directory;

  private final MemoryDevice device = new MemoryDevice();

  private StoreConfig config(double mutableFraction) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(8 * 4096)
        .pageBytes(4096)
        .mutableFraction(mutableFraction)
        .build();
  }

  private static boolean firstIsMarked(FasterStore store) {
    HybridLog log = Insides.engine(store).log();
    return RecordInfo.isOverwritten(RecordLayout.info(log.memory(), log.offset(Address.FIRST)));
  }

  @Test
  void aMutableRecordThatIsOutgrownIsMarked() {
    for (double fraction : new double[] {0, 0.9}) {
      try (FasterStore store = FasterStore.open(config(fraction), new MemoryDevice());
          var session = store.newSession().spans(new BytesFunctions())) {
        session.rmw(KEY, new byte[8], null);
        assertThat(firstIsMarked(store)).isFalse();
        session.rmw(KEY, new byte[80], null);
        assertThat(firstIsMarked(store)).as("fraction " + fraction).isEqualTo(fraction > 0);
        StoreInvariants.check(store);
      }
    }
    try (FasterStore store = FasterStore.open(config(0.9), device);
        var session = store.newSession().spans(new BytesFunctions())) {
      session.upsert(KEY, ByteSpan.of(new byte[8]), null);
      assertThat(session.upsert(KEY, ByteSpan.of(new byte[8]), null))
          .isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(firstIsMarked(store)).isFalse();
      session.upsert(KEY, ByteSpan.of(new byte[80]), null);
      assertThat(firstIsMarked(store)).isTrue();
    }
  }

  @Test
  void anImmutableRecordIsNotMarked() {
    try (FasterStore store = FasterStore.open(config(0.9), device);
        var session = store.newSession().spans(new BytesFunctions())) {
      session.rmw(KEY, new byte[8], null);
      store.log().cut().close();
      session.upsert(KEY, ByteSpan.of(new byte[80]), null);
      assertThat(firstIsMarked(store)).isFalse();
    }
  }

  /** The old record is in the cut and the new one is not, so a mark must not hide the old one. */
  @Test
  void aMarkIsNotSetAcrossACut() throws Exception {
    try (FasterStore store = FasterStore.open(config(0.9), device)) {
      try (var session = store.newSession().spans(new BytesFunctions())) {
        session.rmw(KEY, new byte[8], null);
      }
      Pause pause = new Pause();
      FutureTask<Status> outgrowing =
          new FutureTask<>(() -> {
            try (var session = store.newSession().spans(new SlowGrowth(pause))) {
              return session.rmw(KEY, new byte[8], null);
            }
          });
      pause.start(outgrowing);
      store.log().cut().close();
      pause.finish();
      assertThat(outgrowing.get()).isEqualTo(Status.COPIED);
      assertThat(firstIsMarked(store)).isFalse();
    }
  }

  /** Stops before the allocation of the copy that replaces a record without room. */
  private static final class SlowGrowth extends AppendingFunctions {
    private final Pause pause;

    SlowGrowth(Pause pause) {
      this.pause = pause;
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      pause.here();
      return super.copyBytes(key, input, oldValue);
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.move.RecordMover;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a sample of the log may read a record that another thread has dropped in the meantime.
 */
class DroppedRecordTest {
  private static final int KEY = 7;

  @TempDir Path directory;

  @Test
  void wouldNotMoveWhereItsWholeChainIsDroppedAndTheIndexStillLeadsThere() {
    StoreConfig config =
        StoreConfig.builder(directory).memoryBytes(1 << 20).pageBytes(4096).build();
    try (FasterStore store = FasterStore.open(config);
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      long older = put(store, session, 1);
      put(store, session, 2);
      Engine engine = Insides.engine(store);
      engine.log().truncate(store.log().tailAddress());
      try (RecordMover mover = new RecordMover(engine, null)) {
        assertThat(mover.findState(older, ModelDriver.key(KEY), ByteSpan.of(new byte[] {1})))
            .isEqualTo(RecordMover.RecordState.DEAD);
      }
    }
  }

  /** The address of the record, immutable and on disk. */
  private static long put(
      FasterStore store, Session<byte[], BytesFunctions.Result, Object> session, int value) {
    long address = store.log().tailAddress();
    session.upsert(ModelDriver.key(KEY), ByteSpan.of(new byte[] {(byte) value}), null);
    Engine engine = Insides.engine(store);
    engine.log().room().awaitFlushed(engine.foldOver());
    return address;
  }
}

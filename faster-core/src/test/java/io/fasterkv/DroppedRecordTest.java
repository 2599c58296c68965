package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.RecordMover;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who samples the log may look at a record that somebody else has dropped meanwhile. */
class DroppedRecordTest {
  private static final int KEY = 7;

  @TempDir Path directory;

  @Test
  void wouldNotMoveWhereItsWholeChainIsDroppedAndTheIndexStillLeadsThere() {
    StoreConfig config =
        StoreConfig.builder(directory).memoryBytes(1 << 20).pageBytes(4096).build();
    try (FasterStore store = FasterStore.open(config);
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      long older = put(store, session, 1);
      put(store, session, 2);
      Engine engine = Insides.engine(store);
      engine.log().truncate(store.tailAddress());
      try (RecordMover mover = new RecordMover(engine, null)) {
        assertThat(mover.look(older, ModelDriver.key(KEY), ByteSpan.of(new byte[] {1})))
            .isEqualTo(RecordMover.Look.DEAD);
      }
    }
  }

  /** Where the record is, immutable and on disk. */
  private static long put(
      FasterStore store, Session<byte[], BytesFunctions.Result, Object> session, int value) {
    long address = store.tailAddress();
    session.upsert(ModelDriver.key(KEY), ByteSpan.of(new byte[] {(byte) value}), null);
    Engine engine = Insides.engine(store);
    engine.log().awaitFlushed(engine.foldOver());
    return address;
  }
}

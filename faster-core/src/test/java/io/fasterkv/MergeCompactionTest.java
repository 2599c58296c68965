package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.operation.version.SessionCounters;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests sequential compaction of a log whose values consist of several records. */
class MergeCompactionTest {
  private static final int KEYS = 500;

  @TempDir Path directory;

  private FasterStore open() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(8 * 4096)
            .pageBytes(4096)
            .segmentBytes(4 * 4096)
            .indexBytes(4096)
            .merge(new BytesFunctions())
            .deleteOnClose(true)
            .build();
    FasterStore store = FasterStore.open(config);
    Insides.compactor(store).weighChains(Double.POSITIVE_INFINITY);
    return store;
  }

  private static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(4).putInt(key).array());
  }

  private static long diskSteps(FasterStore store) {
    SessionCounters.Sums sums = Insides.engine(store).sessionCounters().sums();
    return sums.onDisk();
  }

  /**
   * A key that was upserted again is dead with all its older deltas; compaction follows no chain to
   * find that out.
   */
  @Test
  void deadDeltasCostNoAccess() {
    try (FasterStore store = open();
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      ByteSpan value = ByteSpan.of(new byte[60]);
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key(key), value, null);
      }
      int appended = 0;
      for (int key = 0; key < KEYS; key++) {
        Status status = session.rmw(key(key), new byte[60], null);
        appended += status == Status.DELTA_APPENDED ? 1 : 0;
      }
      assertThat(appended).isGreaterThan(KEYS / 2);
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key(key), value, null);
      }
      store.log().cut().close();
      long before = diskSteps(store);
      long end = store.log().compact();
      assertThat(end).isPositive();
      // The newest record of its key is moved; most such records are on disk, too.
      assertThat(diskSteps(store) - before).isLessThan(KEYS / 20);
      for (int key = 0; key < KEYS; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).hasSize(60);
      }
    }
  }

  /** A value in parts is merged once, wherever its parts are. */
  @Test
  void valuesInPartsArePutTogether() {
    try (FasterStore store = open();
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      byte[][] model = new byte[KEYS][0];
      for (byte round = 0; round < 4; round++) {
        for (int key = 0; key < KEYS; key++) {
          byte[] input = {round, (byte) key, 0x20, 0, 0, 0, 0, 0, 0, 0, 0};
          session.rmw(key(key), input, null);
          byte[] longer = Arrays.copyOf(model[key], model[key].length + input.length);
          System.arraycopy(input, 0, longer, model[key].length, input.length);
          model[key] = longer;
        }
        store.log().cut().close();
      }
      store.log().compact();
      long moved = store.statistics().compaction().movedRecords();
      assertThat(moved).isBetween(1L, (long) KEYS);
      for (int key = 0; key < KEYS; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).isEqualTo(model[key]);
      }
      StoreInvariants.check(store);
    }
  }
}

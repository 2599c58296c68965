package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.operation.ChainSteps;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compaction in sequence of a log in which values lie in parts. */
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
    ChainSteps.Sums sums = Insides.engine(store).chainSteps().sums();
    return sums.onDisk();
  }

  /** What was upserted anew is dead with all its deltas, and no chain is followed to see that. */
  @Test
  void deadDeltasCostNoAccess() {
    try (FasterStore store = open();
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
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
      store.cut().close();
      long before = diskSteps(store);
      long end = store.compact();
      assertThat(end).isPositive();
      // What is newest of its key is moved; most of that is on disk, too.
      assertThat(diskSteps(store) - before).isLessThan(KEYS / 20);
      for (int key = 0; key < KEYS; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).hasSize(60);
      }
    }
  }

  /** A value in parts is put together once, wherever its parts lie. */
  @Test
  void valuesInPartsArePutTogether() {
    try (FasterStore store = open();
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      byte[][] model = new byte[KEYS][0];
      for (byte round = 0; round < 4; round++) {
        for (int key = 0; key < KEYS; key++) {
          byte[] input = {round, (byte) key, 0x20, 0, 0, 0, 0, 0, 0, 0, 0};
          session.rmw(key(key), input, null);
          byte[] longer = Arrays.copyOf(model[key], model[key].length + input.length);
          System.arraycopy(input, 0, longer, model[key].length, input.length);
          model[key] = longer;
        }
        store.cut().close();
      }
      store.compact();
      long moved = store.compactionStats().movedRecords();
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

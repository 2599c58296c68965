package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.operation.version.SessionCounters.Growth;
import io.fasterkv.record.RecordLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the live bytes that sessions and compaction count with the size of the live records. */
class GrowthTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 300;
  private static final int STEPS = 20_000;
  private static final int MOST_BYTES = 400;

  @TempDir Path directory;

  /**
   * Updates that read the value they replace, with different sizes, and compaction, which drops
   * spare capacity behind values: no byte is lost, and none counts twice.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void isExactWhereSizesAreSeen(long seed) {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(2 << 20)
            .scratchBytes(1 << 18)
            .logMemoryBytes(8 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .build();
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, Integer> sizes = new HashMap<>();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new Replacing())) {
      session.copyReads(CopyReads.FROM_DISK_AND_READ_ONLY);
      for (int i = 0; i < STEPS; i++) {
        int key = random.nextInt(KEYS);
        int bytes = random.nextInt(MOST_BYTES);
        session.rmw(ModelDriver.key(key), new byte[bytes], null);
        sizes.put(key, bytes);
        session.read(ModelDriver.key(random.nextInt(KEYS)), null, null, null);
        if (random.nextInt(STEPS / 10) == 0) {
          store.log().compact();
        }
      }
      // The page in which a run ends belongs to the next run.
      for (int pass = 0; pass < 2; pass++) {
        store.checkpoints().take();
        store.log().compact();
      }
      long live = 0;
      for (Map.Entry<Integer, Integer> value : sizes.entrySet()) {
        live +=
            RecordLayout.of(RecordKind.SPANS)
                .recordBytes(ModelDriver.key(value.getKey()).length(), value.getValue());
      }
      assertThat(Insides.engine(store).sessionCounters().growth().since(Growth.NONE))
          .as("seed " + seed)
          .isEqualTo(live);
    }
  }

  /**
   * An update replaces the value with its input, with spare capacity; sometimes it requests more
   * than a page and does not use it.
   */
  private static final class Replacing extends BytesFunctions {
    private static final int ROOM_BYTES = 50;

    private static int wanted(byte[] input) {
      return input.length % 8 == 0 ? 3 * PAGE_BYTES : input.length + ROOM_BYTES;
    }

    @Override
    public int initialBytes(ByteSpan key, byte[] input) {
      return wanted(input);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, byte[] input, ByteSpan value, Result output, RecordView record) {
      if (input.length > value.capacity()) {
        return false;
      }
      initialUpdater(key, input, value, output, record);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      return wanted(input);
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        byte[] input,
        ByteSpan oldValue,
        ByteSpan newValue,
        Result output,
        RecordView record) {
      initialUpdater(key, input, newValue, output, record);
    }
  }
}

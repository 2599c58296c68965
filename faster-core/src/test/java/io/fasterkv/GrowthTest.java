package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CopyReads;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.device.MemoryDevice;
import io.fasterkv.operation.ChainSteps.Growth;
import io.fasterkv.record.RecordLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What sessions and compaction count of the live bytes, against what is live. */
class GrowthTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 300;
  private static final int STEPS = 20_000;
  private static final int MOST_BYTES = 400;

  @TempDir Path directory;

  /**
   * Updates that look at what they replace, whose sizes differ, and compaction, which leaves the
   * room behind values that records have: no byte is lost, and none counts twice.
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
            store.newSession(new Replacing(), SessionMode.BLOCKING)) {
      session.copyReads(CopyReads.FROM_DISK_AND_READ_ONLY);
      for (int i = 0; i < STEPS; i++) {
        int key = random.nextInt(KEYS);
        int bytes = random.nextInt(MOST_BYTES);
        session.rmw(ModelDriver.key(key), new byte[bytes], null);
        sizes.put(key, bytes);
        session.read(ModelDriver.key(random.nextInt(KEYS)), null, null, null);
        if (random.nextInt(STEPS / 10) == 0) {
          store.compact();
        }
      }
      // The page that a pass ends in comes with the next.
      for (int pass = 0; pass < 2; pass++) {
        store.checkpoint();
        store.compact();
      }
      long live = 0;
      for (Map.Entry<Integer, Integer> value : sizes.entrySet()) {
        live +=
            RecordLayout.of(RecordKind.SPANS)
                .recordBytes(ModelDriver.key(value.getKey()).length(), value.getValue());
      }
      assertThat(Insides.engine(store).chainSteps().growth().since(Growth.NONE))
          .as("seed " + seed)
          .isEqualTo(live);
    }
  }

  /**
   * An update puts its input in the value's place, with room behind it; now and then it asks for
   * more than a page, and does not take it.
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
    public boolean inPlaceUpdater(ByteSpan key, byte[] input, ByteSpan value) {
      if (input.length > value.capacity()) {
        return false;
      }
      initialUpdater(key, input, value);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      return wanted(input);
    }

    @Override
    public void copyUpdater(ByteSpan key, byte[] input, ByteSpan oldValue, ByteSpan newValue) {
      initialUpdater(key, input, newValue);
    }
  }
}

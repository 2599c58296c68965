package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HeatMapTest {
  private static final long MIB = 1 << 20;
  private static final long END = 400 * MIB;

  private final HeatMap heat = new HeatMap();

  /** Reads random records of a stretch. */
  private void read(int stretch, int times) {
    SplittableRandom random = new SplittableRandom(stretch);
    for (int i = 0; i < times; i++) {
      long within = random.nextLong(HeatMap.STRETCH_BYTES / Long.BYTES) * Long.BYTES;
      heat.readFromDisk(stretch * HeatMap.STRETCH_BYTES + within);
    }
  }

  private int at(int stretch) {
    return heat.heat(stretch * HeatMap.STRETCH_BYTES);
  }

  private ByteBuffer saved(long head) {
    return heat.save(0, head, END);
  }

  @Test
  void frequentlyReadRecordsAreHotter() {
    assertThat(saved(END)).isEqualTo(ByteBuffer.allocate(100));
    read(3, 1_000);
    read(70, 10_000);
    read(71, 100_000);
    assertThat(at(2)).isZero();
    assertThat(at(3)).isBetween(40, 55);
    assertThat(at(70)).isBetween(at(3) + 20, at(3) + 33);
    assertThat(at(71)).isBetween(at(70) + 20, at(70) + 33);
  }

  @Test
  void aCheckpointHalvesTheCounts() {
    read(3, 100_000);
    int before = at(3);
    ByteBuffer first = saved(END);
    assertThat(first.get(3)).isEqualTo((byte) before);
    assertThat(at(3)).isEqualTo(before - 8);
    for (int i = 0; i < 20; i++) {
      saved(END);
    }
    assertThat(at(3)).isZero();
  }

  @Test
  void recordsInMemoryAreHottest() {
    assertThat(saved(0).get(7)).isEqualTo((byte) 1);
    read(3, 1_000);
    int hottest = at(3);
    ByteBuffer bytes = saved(50 * HeatMap.STRETCH_BYTES + 8);
    assertThat(bytes.get(50)).isZero();
    assertThat(bytes.get(51)).isEqualTo((byte) (hottest + 1));
    assertThat(bytes.get(99)).isEqualTo((byte) (hottest + 1));
  }

  @Test
  void savedHeatIsLoaded() {
    for (int stretch = 0; stretch < 100; stretch++) {
      read(stretch, stretch * 100);
    }
    ByteBuffer bytes = heat.save(8 * MIB, END, END);
    assertThat(bytes.remaining()).isEqualTo(98);
    HeatMap restored = new HeatMap();
    restored.load(8 * MIB, bytes);
    ByteBuffer again = restored.save(8 * MIB, END, END);
    for (int i = 0; i < bytes.remaining(); i++) {
      assertThat(Math.abs(bytes.get(i) - again.get(i))).isLessThanOrEqualTo(4);
    }
    assertThat(restored.heat(END + (1L << 40))).as("beyond the log").isBetween(0, 255);
  }

  /** All counts that a byte can represent are loaded and saved again unchanged, or nearly so. */
  @Test
  void theHottestStaysTheHottest() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    heat.load(0, ByteBuffer.wrap(all));
    for (int i = 1; i < all.length; i++) {
      assertThat(at(i)).isGreaterThanOrEqualTo(at(i - 1)).isBetween(0, 255);
    }
  }
}

package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.log.FlushedExtents.Extent;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FlushedExtentsTest {
  private static final int STEPS = 3000;

  private final FlushedExtents extents = new FlushedExtents(0);

  @Test
  void findsTheExtentThatHoldsAnAddress() {
    extents.add(new Extent(0, 100, 1));
    extents.add(new Extent(100, 256, 2));
    assertThat(extents.at(0).crc()).isEqualTo(1);
    assertThat(extents.at(99).crc()).isEqualTo(1);
    assertThat(extents.at(100).crc()).isEqualTo(2);
    assertThat(extents.at(255).crc()).isEqualTo(2);
    assertThatThrownBy(() -> extents.at(256))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address=256");
  }

  @Test
  void keepsTheExtentThatATruncationCutsThrough() {
    extents.add(new Extent(0, 100, 1));
    extents.add(new Extent(100, 256, 2));
    assertThat(extents.truncate(150)).isEqualTo(100);
    assertThat(extents.at(120).crc()).isEqualTo(2);
    assertThatThrownBy(() -> extents.at(99)).isInstanceOf(IllegalArgumentException.class);
    assertThat(extents.truncate(256)).isEqualTo(256);
    assertThat(extents.countUntil(Long.MAX_VALUE)).isZero();
  }

  /** Doubling half of the longest array does not overflow. */
  @Test
  void growsUpToTheLongestArray() {
    assertThat(FlushedExtents.capacityFor(0)).isEqualTo(16);
    assertThat(FlushedExtents.capacityFor(16)).isEqualTo(32);
    for (int live : new int[] {1 << 30, (1 << 30) + 1, Integer.MAX_VALUE - 9}) {
      assertThat(FlushedExtents.capacityFor(live)).isEqualTo(Integer.MAX_VALUE - 8);
    }
    assertThatThrownBy(() -> FlushedExtents.capacityFor(Integer.MAX_VALUE - 8))
        .isInstanceOf(OutOfAddresses.class)
        .hasMessageContaining("extents=2147483639");
  }

  @Test
  void agreesWithAListWhileItGrowsAndIsTruncated() {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    List<Extent> model = new ArrayList<>();
    long end = 0;
    for (int step = 0; step < STEPS; step++) {
      if (model.isEmpty() || random.nextInt(3) > 0) {
        Extent extent = new Extent(end, end + random.nextInt(1, 100), random.nextInt());
        extents.add(extent);
        model.add(extent);
        end = extent.until();
      } else {
        long address = random.nextLong(model.getFirst().from(), end);
        extents.truncate(address);
        model.removeIf(extent -> extent.until() <= address);
        assertThat(extents.at(address)).as("seed=%d", seed).isEqualTo(model.getFirst());
      }
      long until = random.nextLong(end + 1);
      List<Extent> expected = model.stream().filter(extent -> extent.until() <= until).toList();
      List<Extent> found = new ArrayList<>();
      extents.forEachUntil(until, found::add);
      assertThat(found).as("seed=%d", seed).isEqualTo(expected);
      assertThat(extents.countUntil(until)).as("seed=%d", seed).isEqualTo(expected.size());
    }
  }
}

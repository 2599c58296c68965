package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.record.RecordInfo;
import java.util.List;
import org.junit.jupiter.api.Test;

class VoidRangesTest {
  private final VoidRanges voids = new VoidRanges(List.of(new VoidRange(100, 200, 0)));

  private static long info(long version) {
    return RecordInfo.complete(8, RecordInfo.versionBits(version));
  }

  @Test
  void recordsOfTheVersionInTheRangeAreVoid() {
    assertThat(voids.contains(100, info(64))).isTrue();
    assertThat(voids.contains(199, info(128))).isTrue();
  }

  @Test
  void recordsOfOtherVersionsAndOutsideAreNot() {
    assertThat(voids.contains(150, info(63))).isFalse();
    assertThat(voids.contains(150, info(65))).isFalse();
    assertThat(voids.contains(99, info(64))).isFalse();
    assertThat(voids.contains(200, info(64))).isFalse();
  }

  /** A piece has no version bits; its header looks like version 64, 128 and so on. */
  @Test
  void aPieceOfALargeValueIsNeverVoid() {
    assertThat(voids.contains(150, RecordInfo.complete(8, RecordInfo.CHUNK))).isFalse();
  }
}

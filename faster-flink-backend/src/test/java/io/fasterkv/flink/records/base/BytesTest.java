package io.fasterkv.flink.records.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BytesTest {
  private static final int CHUNK_BYTES = 4 << 10;

  /**
   * A buffer that grows in chunks, up to the longest possible array, is copied only a few times.
   */
  @Test
  void aBufferGrowsInFewSteps() {
    int steps = 0;
    int length = CHUNK_BYTES;
    while (length < Bytes.MOST_BYTES) {
      int needed = (int) Math.min((long) length + CHUNK_BYTES, Bytes.MOST_BYTES);
      length = Bytes.grown(length, needed);
      assertThat(length).isBetween(needed, Bytes.MOST_BYTES);
      steps++;
    }
    assertThat(steps).isLessThan(Integer.SIZE);
  }
}

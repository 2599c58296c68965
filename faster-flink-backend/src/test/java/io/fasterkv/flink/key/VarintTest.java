package io.fasterkv.flink.key;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VarintTest {

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        1,
        127,
        128,
        16_383,
        16_384,
        (1 << 21) - 1,
        1 << 21,
        (1 << 28) - 1,
        1 << 28,
        Integer.MAX_VALUE
      })
  void readsWrittenNumbers(int value) {
    byte[] bytes = new byte[8];
    int end = Varint.write(bytes, 2, value);
    assertThat(end - 2).isEqualTo(Varint.size(value));
    assertThat(Varint.read(bytes, 2)).isEqualTo(value);
  }
}

package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointMetaTest {

  /** In the sixth version, the heads of maps counted entries. */
  @ParameterizedTest
  @ValueSource(strings = {"FCP6", "FCP8", "else"})
  void anotherVersionIsRefused(String magic) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] block = (magic + "and more").getBytes(StandardCharsets.US_ASCII);
    Blocks.write(bytes, block, block.length);
    ByteStreamStateHandle handle = new ByteStreamStateHandle("meta", bytes.toByteArray());
    try (Blocks.In file = new Blocks.In(handle, new OpenStreams(System.getLogger("test")))) {
      assertThatThrownBy(() -> CheckpointMeta.read(file, getClass().getClassLoader()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another version")
          .hasMessageContaining("meta, offset=0, found=" + magic + ", allowed=FCP7");
    }
  }
}

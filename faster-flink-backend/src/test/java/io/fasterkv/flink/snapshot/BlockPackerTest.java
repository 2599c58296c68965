package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.memory.NativeAccess;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import net.jpountz.lz4.LZ4Factory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Blocks that native code has packed are read without it, and the other way round. */
class BlockPackerTest {
  private static final int LENGTH = 20_000;

  private final SplittableRandom random = new SplittableRandom(3);

  @BeforeAll
  static void requestNativeAccess() {
    NativeAccess.request();
  }

  @Test
  void plainJavaAndNativeCodeReadWhatItPacks() {
    byte[] block = block();
    BlockPacker packer = new BlockPacker();
    int length = packer.pack(block, LENGTH);
    assertThat(length).isLessThan(LENGTH);
    for (LZ4Factory lz4 : kinds()) {
      byte[] read = new byte[LENGTH];
      assertThat(lz4.safeDecompressor().decompress(packer.packed(), 0, length, read, 0))
          .isEqualTo(LENGTH);
      assertThat(read).isEqualTo(block);
    }
  }

  @Test
  void readsWhatPlainJavaAndNativeCodePack() {
    byte[] block = block();
    for (LZ4Factory lz4 : kinds()) {
      byte[] packed = lz4.fastCompressor().compress(block);
      byte[] read = new byte[LENGTH];
      assertThat(BlockPacker.unpack(packed, packed.length, read, LENGTH)).isTrue();
      assertThat(read).isEqualTo(block);
    }
  }

  @Test
  void damagedBlocksWriteNothingPastTheTarget() {
    byte[] packed = LZ4Factory.safeInstance().fastCompressor().compress(block());
    byte[] target = new byte[LENGTH + 8];
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = packed.clone();
      for (int bytes = random.nextInt(1, 4); bytes > 0; bytes--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      }
      BlockPacker.unpack(damaged, random.nextInt(damaged.length + 1), target, LENGTH);
      assertThat(Arrays.equals(target, LENGTH, LENGTH + 8, new byte[8], 0, 8)).isTrue();
    }
  }

  @Test
  void aBlockThatDoesNotShrinkIsStoredAsItIs() {
    byte[] block = new byte[LENGTH];
    random.nextBytes(block);
    assertThat(new BlockPacker().pack(block, LENGTH)).isEqualTo(LENGTH);
  }

  private static List<LZ4Factory> kinds() {
    return List.of(LZ4Factory.safeInstance(), LZ4Factory.nativeInstance());
  }

  /** Bytes of which half repeat. */
  private byte[] block() {
    byte[] block = new byte[LENGTH];
    for (int at = 0; at < LENGTH; at += 16) {
      byte[] some = new byte[8];
      random.nextBytes(some);
      System.arraycopy(some, 0, block, at, 8);
    }
    return block;
  }
}

package io.fasterkv.flink.snapshot;

import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * Compresses blocks of log, each independently, so that a reader can fetch any of them. It uses
 * LZ4: the native library if the JVM grants native access, else plain Java. Both check all bounds
 * and write the same format. For one thread.
 */
final class BlockPacker {
  /** A block is stored uncompressed unless compression saves this part of its length. */
  private static final int LEAST_GAIN_PART = 8;

  private static final LZ4Factory LZ4 = factory();
  private static final LZ4SafeDecompressor UNPACKER = LZ4.safeDecompressor();

  private final LZ4Compressor compressor = LZ4.fastCompressor();
  private final byte[] packed = new byte[compressor.maxCompressedLength(BlockTable.BLOCK_BYTES)];

  private static LZ4Factory factory() {
    if (BlockPacker.class.getModule().isNativeAccessEnabled()) {
      try {
        return LZ4Factory.nativeInstance();
      } catch (LinkageError | RuntimeException absent) {
        // No library for this machine, or none can be executed in its temporary directory.
      }
    }
    return LZ4Factory.safeInstance();
  }

  /**
   * Compresses the first bytes of a block into {@link #packed}.
   *
   * @return the compressed length, or {@code length} if the block should be stored as it is
   */
  int pack(byte[] block, int length) {
    int shorter = compressor.compress(block, 0, length, packed, 0, packed.length);
    return shorter <= length - length / LEAST_GAIN_PART ? shorter : length;
  }

  /** The bytes of the last block; valid until the next one. */
  byte[] packed() {
    return packed;
  }

  /**
   * Expands a block.
   *
   * @return whether it has exactly {@code length} bytes; if not, it is damaged
   */
  static boolean unpack(byte[] source, int packedLength, byte[] target, int length) {
    try {
      return UNPACKER.decompress(source, 0, packedLength, target, 0, length) == length;
    } catch (LZ4Exception damaged) {
      return false;
    }
  }
}

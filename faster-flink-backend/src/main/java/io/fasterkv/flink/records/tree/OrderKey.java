package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The order key of an element of an ordered set; see {@link TreeLayout}. Reused. */
final class OrderKey {
  private static final VarHandle BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final boolean SPANS_ARE_BIG_ENDIAN =
      ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private final byte[] bytes = new byte[TreeLayout.LONG_BYTES];
  private final MessageDigest digest = newDigest();
  private int length;

  private static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException cause) {
      throw new IllegalStateException("every Java platform has SHA-256", cause);
    }
  }

  /** Becomes the order key of an element. */
  OrderKey ofElement(byte[] element, int offset, int count) {
    if (count < TreeLayout.LONG_BYTES) {
      return of(element, offset, count);
    }
    System.arraycopy(element, offset, bytes, 0, TreeLayout.LONG_PREFIX_BYTES);
    digest.update(element, offset, count);
    try {
      digest.digest(bytes, TreeLayout.LONG_PREFIX_BYTES, TreeLayout.DIGEST_BYTES);
    } catch (DigestException cause) {
      throw new IllegalStateException("a SHA-256 has 32 bytes", cause);
    }
    length = TreeLayout.LONG_BYTES;
    return this;
  }

  /** Becomes an order key. */
  OrderKey of(byte[] orderKey, int offset, int count) {
    System.arraycopy(orderKey, offset, bytes, 0, count);
    length = count;
    return this;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  boolean isLong() {
    return TreeLayout.isLong(length);
  }

  /** Compares the bytes at {@code at} of a block with this key: negative if they come first. */
  int compareFrom(ByteSpan block, int at, int count) {
    int common = Math.min(count, length);
    int done = 0;
    for (; done + Long.BYTES <= common; done += Long.BYTES) {
      long otherWord = block.getLong(at + done);
      long ours = (long) BIG_ENDIAN.get(bytes, done);
      int order =
          Long.compareUnsigned(
              SPANS_ARE_BIG_ENDIAN ? otherWord : Long.reverseBytes(otherWord), ours);
      if (order != 0) {
        return order;
      }
    }
    for (; done < common; done++) {
      int order = Byte.compareUnsigned(block.getByte(at + done), bytes[done]);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(count, length);
  }
}

package io.fasterkv.flink.key;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** A record key as {@link LongKeyLayout} draws it, in one reused buffer. */
final class DigestKey {
  private final byte[] bytes = new byte[LongKeyLayout.RECORD_BYTES];
  private final MemorySegment segment = MemorySegment.ofArray(bytes);
  private final MessageDigest digest = newDigest();

  DigestKey() {
    LongKeyLayout.mark(bytes);
  }

  private static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException cause) {
      throw new IllegalStateException("every Java platform has SHA-256", cause);
    }
  }

  /** Computes the digest of the key and namespace of a prefix that starts the array. */
  void digest(byte[] prefix, int length) {
    digest.update(prefix, KeyLayout.KEY_LENGTH_AT, length - KeyLayout.KEY_LENGTH_AT);
    try {
      digest.digest(bytes, LongKeyLayout.DIGEST_AT, LongKeyLayout.DIGEST_BYTES);
    } catch (DigestException cause) {
      throw new IllegalStateException("a SHA-256 has 32 bytes", cause);
    }
  }

  /** The record key with the key group and the state of this prefix. */
  ByteSpan record(byte[] prefix, int sub, ByteSpan span) {
    System.arraycopy(prefix, 0, bytes, 0, KeyLayout.KEY_LENGTH_AT);
    KeyLayout.putSub(bytes, bytes.length, sub);
    return span.wrap(segment, 0, bytes.length, bytes.length);
  }
}

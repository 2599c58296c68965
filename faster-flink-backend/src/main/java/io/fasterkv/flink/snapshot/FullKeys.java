package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.ValueLayout;
import java.io.IOException;
import java.util.Arrays;

/**
 * Shows sorted records with full keys: replaces the digest of a long key by the key from the key
 * record, which sorts immediately before. It hides key records. Records of one value remain
 * consecutive; values with long keys are in the order of their digests.
 */
final class FullKeys implements SortedRecords {
  private final SortedRecords records;

  /** Key group, state and digest of the last key record. */
  private final byte[] digest = new byte[LongKeyLayout.SHARED_BYTES];

  /** The full record key; without a sub number while bytes of the key are missing. */
  private final Bytes full = new Bytes();

  private long incarnation;

  /** Bytes of the key that were not read yet. */
  private int missing;

  /** Whether the record key has a digest, so that the full key is shown instead. */
  private boolean isLong;

  FullKeys(SortedRecords records) {
    this.records = records;
  }

  @Override
  public boolean next() throws IOException {
    while (records.next()) {
      byte[] bytes = records.keyBytes();
      int start = records.keyStart();
      isLong = LongKeyLayout.hasDigest(bytes, start);
      if (!isLong) {
        return true;
      }
      int sub = KeyLayout.sub(bytes, start, records.keyLength());
      if (LongKeyLayout.isOfKeyRecord(bytes, start)) {
        takeKey(bytes, start, sub);
      } else if (isKnown(bytes, start)) {
        KeyLayout.putSub(full.array(), full.length(), sub);
        return true;
      } else if (sub == 0) {
        throw new IllegalStateException(
            "the key of a value is missing, the store is damaged: state="
                + KeyLayout.state(bytes, start)
                + ", keyGroup="
                + KeyLayout.keyGroup(bytes, start)
                + "; restore the job from a checkpoint, and report this as a bug");
      }
      // A part of a removed value.
    }
    return false;
  }

  /** Reads one record of a key record. */
  private void takeKey(byte[] bytes, int start, int sub) {
    byte[] value = records.valueBytes();
    int valueAt = records.valueStart();
    if (sub == 0) {
      System.arraycopy(bytes, start, digest, 0, digest.length);
      incarnation = PartLayout.ofHead(value, valueAt);
      missing = ValueLayout.lengthInPieces(value, valueAt);
      full.clear();
      full.append(bytes, start, KeyLayout.KEY_LENGTH_AT);
    } else if (missing > 0 && isOfDigest(bytes, start) && isOwn(value, valueAt)) {
      int count = records.valueLength() - ValueLayout.PIECE_HEAD_BYTES;
      full.append(value, valueAt + ValueLayout.PIECE_HEAD_BYTES, count);
      missing -= count;
      if (missing == 0) {
        full.setLength(full.length() + KeyLayout.SUB_BYTES);
      }
    }
  }

  private boolean isOwn(byte[] value, int start) {
    return PartLayout.ofPart(value, start) == incarnation;
  }

  private boolean isKnown(byte[] bytes, int start) {
    return missing == 0 && full.length() > 0 && isOfDigest(bytes, start);
  }

  private boolean isOfDigest(byte[] bytes, int start) {
    return Arrays.equals(bytes, start, start + digest.length, digest, 0, digest.length);
  }

  @Override
  public byte[] keyBytes() {
    return isLong ? full.array() : records.keyBytes();
  }

  @Override
  public int keyStart() {
    return isLong ? 0 : records.keyStart();
  }

  @Override
  public int keyLength() {
    return isLong ? full.length() : records.keyLength();
  }

  @Override
  public byte[] valueBytes() {
    return records.valueBytes();
  }

  @Override
  public int valueStart() {
    return records.valueStart();
  }

  @Override
  public int valueLength() {
    return records.valueLength();
  }

  @Override
  public void close() {
    records.close();
  }
}

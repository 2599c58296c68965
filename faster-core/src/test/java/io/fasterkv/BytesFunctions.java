package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.Status;

/**
 * {@link AppendingFunctions} whose updates can be merged. Merging appends too, so a part that is
 * lost, doubled or out of order is detected.
 */
public class BytesFunctions extends AppendingFunctions
    implements MergeableFunctions<byte[], BytesFunctions.Result, Object> {

  /** The result of a read. */
  public static final class Result {
    byte[] value = new byte[0];
    Status completed = Status.PENDING;
  }

  @Override
  public int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer) {
    return older.length() + newer.length();
  }

  @Override
  public void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result) {
    result.setTo(older);
    result.copyFrom(older.length(), newer);
    result.setLength(older.length() + newer.length());
  }
}

package io.fasterkv.checkpoint.export;

import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.log.VoidRanges;
import io.fasterkv.record.RecordInfo;

/**
 * Decides which records of a checkpoint are valid: those in a chain. A tombstone at the end of its
 * chain is omitted, as in any scan.
 */
public final class ShownRecords {
  private final long begin;
  private final VoidRanges voids;

  public ShownRecords(CheckpointManifest manifest) {
    begin = manifest.cut().begin();
    voids = new VoidRanges(manifest.voidsAfterRecovery());
  }

  /** Whether the record with this first word, which must not be a fork, is valid. */
  public boolean has(long address, long info) {
    boolean isEndOfChain = RecordInfo.isTombstone(info) && RecordInfo.previousAddress(info) < begin;
    return address >= begin && mayCount(info) && !isEndOfChain && !voids.contains(address, info);
  }

  /** Whether a record may be valid in any checkpoint that contains it. */
  static boolean mayCount(long info) {
    return RecordInfo.isKeyed(info)
        && !RecordInfo.isPadding(info)
        && !RecordInfo.isInvalid(info)
        && !RecordInfo.isChunk(info);
  }
}

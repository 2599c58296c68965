package io.fasterkv.checkpoint;

import io.fasterkv.log.VoidRanges;
import io.fasterkv.record.RecordInfo;

/**
 * Which records of a checkpoint count: those in a chain. A tombstone at the end of its chain is
 * left out, as in any scan.
 */
final class ShownRecords {
  private final long begin;
  private final VoidRanges voids;

  ShownRecords(CheckpointManifest manifest) {
    begin = manifest.cut().begin();
    voids = new VoidRanges(manifest.voidsAfterRecovery());
  }

  /** Whether the record with this first word, which is no fork, counts. */
  boolean has(long address, long info) {
    boolean isEndOfChain = RecordInfo.isTombstone(info) && RecordInfo.previousAddress(info) < begin;
    return address >= begin && mayCount(info) && !isEndOfChain && !voids.contains(address, info);
  }

  /** Whether a record may count in any checkpoint that has it. */
  static boolean mayCount(long info) {
    return RecordInfo.isKeyed(info)
        && !RecordInfo.isPadding(info)
        && !RecordInfo.isInvalid(info)
        && !RecordInfo.isChunk(info);
  }
}

package io.fasterkv.operation.core;

import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordInfo;

/**
 * Decides whether a record may be marked as overwritten once its successor is in the chain.
 *
 * <p>The mark must be true for ever, also in a checkpoint that has the record: so no cut may
 * separate the two. A cut counts itself, moves the tail, moves the read-only mark, and counts
 * itself again. If no cut is in progress when the mark is begun, and the read-only mark that is
 * read after that is not above the record, then every cut so far ended below the record. If none
 * has begun by the time the successor has its address, none has ended below the successor. And a
 * record that is mutable to a protected thread is not being flushed.
 */
public final class OverwriteMark {
  private static final long NEVER = -1;

  private final HybridLog log;
  private long moment;

  public OverwriteMark(HybridLog log) {
    this.log = log;
  }

  /**
   * Notes the current moment; the successor of the record at {@code address} is allocated
   * afterwards.
   */
  public void begin(long address) {
    moment = log.regions().uncutSince();
    if (address < log.readOnlyAddress()) {
      moment = NEVER;
    }
  }

  /** The bits to add to the record's first word after its successor was put in the chain. */
  public long bits() {
    return moment != NEVER && log.regions().uncutSince() == moment ? RecordInfo.OVERWRITTEN : 0;
  }
}

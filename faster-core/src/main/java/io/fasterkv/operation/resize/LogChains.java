package io.fasterkv.operation.resize;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.index.Chains;
import io.fasterkv.log.Claim;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.Address;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Answers a resize's questions about the chains in the log, as far as they are in memory, without
 * changing them. Stateless; callers must be protected.
 */
final class LogChains implements Chains {
  private static final long UNDECIDED = -1;

  private final Engine engine;
  private final HybridLog log;
  private final RecordLayout layout;

  LogChains(Engine engine) {
    this.engine = engine;
    log = engine.log();
    layout = engine.layout();
  }

  @Override
  public long tailAddress() {
    return log.tailAddress();
  }

  @Override
  public long first(long address, Part part) {
    long begin = log.removableBelow();
    long downTo = Math.max(begin, log.headAddress());
    long at = address;
    while (at >= downTo) {
      long info = info(at);
      long after;
      if (RecordInfo.isFork(info)) {
        after = through(at, part);
        if (after == UNDECIDED) {
          return at;
        }
      } else if (part.contains(hash(at))) {
        return at;
      } else {
        after = RecordInfo.previousAddress(info);
      }
      at = after;
    }
    return at < begin ? Address.NONE : at;
  }

  /** The branch of a fork for all hashes of a part, or {@link #UNDECIDED} if they take both. */
  private long through(long fork, Part part) {
    MemorySegment memory = log.memory();
    long record = log.offset(fork);
    long choice = ForkRecord.choice(memory, record);
    boolean isRight;
    if (ForkRecord.isByTag(memory, record)) {
      if (!part.isOfOneTag() || part.tagBase() != ForkRecord.tagBase(choice)) {
        return UNDECIDED;
      }
      isRight = choice == ForkRecord.tagChoice(part.tagBase(), part.tag());
    } else {
      // A bucket of the part's table is within one bucket of any table of the same size or smaller.
      if (part.mainBuckets() % choice != 0) {
        return UNDECIDED;
      }
      isRight = (part.bucket() / (part.mainBuckets() / choice) & 1) != 0;
    }
    return isRight ? ForkRecord.right(memory, record) : ForkRecord.left(memory, record);
  }

  @Override
  public long records(long address, Part part, RecordSink sink) {
    long begin = log.removableBelow();
    long downTo = Math.max(begin, log.headAddress());
    long at = address;
    while (at >= downTo) {
      long info = info(at);
      if (RecordInfo.isFork(info)) {
        return at;
      }
      long hash = hash(at);
      if (part.contains(hash)) {
        sink.record(hash, at);
      }
      at = RecordInfo.previousAddress(info);
    }
    return at < begin ? Address.NONE : at;
  }

  @Override
  public long join(long left, long right, long mainBuckets) {
    long begin = log.removableBelow();
    if (left < begin) {
      return right < begin ? Address.NONE : right;
    }
    if (right < begin || left == right) {
      return left;
    }
    long upper = Math.max(left, right);
    if (leadsTo(upper, Math.min(left, right))) {
      return upper;
    }
    long fork = log.allocate(ForkRecord.BYTES, Claim.FORK);
    if (fork == HybridLog.RETRY) {
      return RETRY;
    }
    ForkRecord.createByBucket(log.memory(), log.offset(fork), left, right, mainBuckets);
    return fork;
  }

  @Override
  public long joinByTag(long others, long ofTag, long base, long tag) {
    long fork = log.allocate(ForkRecord.BYTES, Claim.FORK);
    if (fork == HybridLog.RETRY) {
      return RETRY;
    }
    ForkRecord.createByTag(log.memory(), log.offset(fork), others, ofTag, base, tag);
    return fork;
  }

  /**
   * Whether memory shows that one chain continues in another, as two chains that were split do. The
   * upper one then serves both: its additional records belong to its own part.
   */
  private boolean leadsTo(long upper, long lower) {
    long downTo = Math.max(log.headAddress(), lower + 1);
    long at = upper;
    while (at >= downTo) {
      long info = info(at);
      if (RecordInfo.isFork(info)) {
        return false;
      }
      at = RecordInfo.previousAddress(info);
    }
    return at == lower;
  }

  private long info(long address) {
    long info = RecordLayout.info(log.memory(), log.offset(address));
    if (!RecordInfo.isPresent(info)) {
      throw new Corrupt(
          "a chain leads to no record: address=" + address + ", head=" + log.headAddress());
    }
    return info;
  }

  private long hash(long address) {
    MemorySegment memory = log.memory();
    long record = log.offset(address);
    return engine.hash(memory, layout.keyOffset(record), layout.keyBytes(memory, record));
  }
}

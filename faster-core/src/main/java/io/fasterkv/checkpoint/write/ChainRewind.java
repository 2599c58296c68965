package io.fasterkv.checkpoint.write;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexImage.Rewind;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Leads chains back to their state at a cut. In each chain, all records of the cut's version are
 * below all records of the next version. So it skips the records above the cut's end, and those
 * above the cut's start whose header has the next version. Most of them are still in memory;
 * otherwise it reads the first word from disk. One thread at a time.
 */
final class ChainRewind implements Rewind, AutoCloseable {
  private final Engine engine;
  private final VersionCut cut;
  private final int nextVersion;
  private final MemorySegment buffer;
  private final EpochUser user;

  /**
   * Creates a rewind to a cut; its records from the begin address on, which must be pinned, belong
   * to the image.
   */
  ChainRewind(Engine engine, VersionCut cut) {
    this.engine = engine;
    this.cut = cut;
    nextVersion = (int) ((cut.version() + 1) % RecordInfo.VERSIONS);
    user = engine.epochs().register();
    try {
      buffer = engine.buffers().take(BufferPool.MIN_BYTES);
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  @Override
  public long rewind(long address) {
    long at = address;
    while (at >= cut.start()) {
      long info = info(at);
      if (at < cut.end() && RecordInfo.version(info) != nextVersion) {
        break;
      }
      long previous = RecordInfo.previousAddress(info);
      // Only a resize creates forks, and none runs between the cut and the end of the copy.
      if (previous >= at || RecordInfo.isFork(info)) {
        throw new Corrupt(
            "a chain does not lead down below the cut: "
                + engine.log().device().place(at)
                + ", previousAddress="
                + previous);
      }
      at = previous;
    }
    return at < cut.begin() ? Address.NONE : at;
  }

  @Override
  public long settledFrom() {
    return cut.begin();
  }

  @Override
  public long settledUntil() {
    return cut.start();
  }

  @Override
  public void close() {
    user.close();
    engine.buffers().give(buffer);
  }

  private long info(long address) {
    HybridLog log = engine.log();
    user.protect();
    try {
      if (address >= log.headAddress()) {
        return RecordLayout.info(log.memory(), log.offset(address));
      }
    } finally {
      user.unprotect();
    }
    try {
      MemorySegment word = buffer.asSlice(0, RecordInfo.BYTES);
      log.device().readNow(address, word);
      return RecordLayout.info(word, 0);
    } catch (IOException e) {
      throw new DeviceFailed("a record could not be read: " + log.device().place(address), e);
    }
  }
}

package io.fasterkv.flink.snapshot;

import io.fasterkv.FasterStore;
import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import java.lang.System.Logger.Level;

/**
 * A store's log, for compaction of its head. Beyond its memory, background compaction takes care of
 * it.
 */
record StoreHead(FasterStore store) implements HeadCompaction.Log {

  @Override
  public long end() {
    return store.log().tailAddress();
  }

  @Override
  public long liveBytes() {
    return store.statistics().liveBytes();
  }

  @Override
  public long sampledLiveBytes() {
    return store.statistics().sampledLiveBytes();
  }

  @Override
  public long movedBytes() {
    return store.statistics().compaction().movedBytes();
  }

  @Override
  public boolean hasRoom(long bytes) {
    return store.statistics().logBytes() + bytes <= store.statistics().memory().logBytes();
  }

  @Override
  public boolean compact(long until) {
    try {
      store.log().compact(until);
    } catch (OutOfBudget | RecordTooLarge | OutOfAddresses e) {
      // The log may be longer until the next checkpoint.
      store
          .config()
          .logger()
          .log(Level.DEBUG, "the log cannot be compacted for the next checkpoint", e);
      return false;
    }
    return store.log().beginAddress() >= until;
  }
}

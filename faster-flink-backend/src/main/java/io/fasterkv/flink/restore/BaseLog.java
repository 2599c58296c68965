package io.fasterkv.flink.restore;

import io.fasterkv.FasterStore;
import io.fasterkv.StoreImport;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeyFilter;
import io.fasterkv.api.RecoveryProgress;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.snapshot.LocalCopy;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StoredKeys;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A log of checkpoints that a store starts with, unchanged, instead of an empty one. */
public final class BaseLog {
  private static final Logger LOG = LoggerFactory.getLogger(BaseLog.class);

  private final CommonLog common;
  private final KeyGroupRange own;
  private final RestoreScope scope;
  private final RestoreProgress progress;
  private boolean isTaken;

  BaseLog(CommonLog common, KeyGroupRange own, RestoreScope scope, RestoreProgress progress) {
    this.common = common;
    this.own = own;
    this.scope = scope;
    this.progress = progress;
  }

  CommonLog common() {
    return common;
  }

  /** Whether a store has begun with it. */
  boolean isTaken() {
    return isTaken;
  }

  StoredKeys stored() {
    return new StoredKeys(own, common.source().meta().stored(), common.log().endAddress());
  }

  /**
   * Opens a store that begins with the log; null, and nothing is left of it, if these settings have
   * no room for it: then its records are put into an empty store one by one.
   *
   * @param directory the store's
   */
  public @Nullable FasterStore tryOpen(StoreConfig.Builder settings, Path directory)
      throws IOException {
    StoreImport log = common.log();
    if (stored().hasForeign()) {
      settings.keyFilter(ownKeys());
    }
    try {
      StoreConfig config = split(settings);
      if (config.indexBytes() < log.leastIndexBytes()) {
        return notTaken("indexBytes=" + config.indexBytes() + ", needed=" + log.leastIndexBytes());
      }
      FasterStore store = recover(config, directory);
      forgetCheckpoints(store);
      isTaken = true;
      return store;
    } catch (BadConfig | OutOfBudget doesNotFit) {
      FileUtils.deleteDirectory(directory.toFile());
      return notTaken(doesNotFit.getMessage());
    }
  }

  /** The store closes the streams when all of the log is local, or when it is closed itself. */
  private FasterStore recover(StoreConfig config, Path directory) throws IOException {
    RecoveryRequest request = RecoveryRequest.newest().onProgress(this::tell);
    OpenStreams streams = new OpenStreams();
    boolean isOpen = false;
    try {
      FasterStore store =
          scope.closing(
              streams, () -> FasterStore.recover(config, fill(directory, request, streams)));
      isOpen = true;
      return store;
    } finally {
      if (!isOpen) {
        streams.close();
      }
    }
  }

  /** The files are temporary, and need not be kept for another recovery. */
  private static void forgetCheckpoints(FasterStore store) {
    try {
      store.checkpoints().forEach(store::removeCheckpoint);
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  /** The settings with memory split by what the log's stores had in their indexes. */
  public StoreConfig split(StoreConfig.Builder settings) {
    return MemorySplit.choose(settings, common.members(), own);
  }

  private KeyFilter ownKeys() {
    int first = own.getStartKeyGroup();
    int last = own.getEndKeyGroup();
    return new KeyFilter() {
      @Override
      public boolean owns(ByteSpan key) {
        int group = KeyLayout.keyGroup(key);
        return first <= group && group <= last;
      }

      @Override
      public boolean mayOwn(ByteSpan head) {
        return owns(head);
      }
    };
  }

  private static @Nullable FasterStore notTaken(@Nullable String because) {
    LOG.info(
        "a checkpoint's log does not fit the store as it is, its records are put into an empty one:"
            + " {}",
        because);
    return null;
  }

  /** Puts the log into the directory, and returns how to recover from it. */
  private RecoveryRequest fill(Path directory, RecoveryRequest request, OpenStreams streams)
      throws IOException {
    Path local = common.isWhole() ? common.source().localDirectory() : null;
    try (StoreImport.Target target = common.log().into(directory)) {
      if (local == null) {
        CheckpointOrigin origin = CheckpointOrigin.open(common, streams, scope);
        target.finish(origin.pieces());
        return request.from(origin);
      }
      LocalCopy.takeInto(target, local);
    }
    LOG.info(
        "took over the log of a checkpoint that is on this machine: checkpoint={}, directory={}",
        common.source().handle().getCheckpointId(),
        local);
    return request;
  }

  /** Tells in the log how far a recovery has come; ends one that is cancelled. */
  private void tell(RecoveryProgress recovery) {
    scope.check();
    progress.tell("opening a store on the log of a checkpoint", recovery);
  }
}

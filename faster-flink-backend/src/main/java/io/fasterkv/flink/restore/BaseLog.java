package io.fasterkv.flink.restore;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.checkpoint.RecoveryProgress;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.snapshot.LocalCopy;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StoredKeys;
import io.fasterkv.spi.KeyFilter;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;

/** A log from checkpoints that a store opens unchanged instead of an empty log. */
public final class BaseLog {
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

  /** Whether a store was opened with it. */
  boolean isTaken() {
    return isTaken;
  }

  StoredKeys stored() {
    return new StoredKeys(own, common.source().meta().stored(), common.log().endAddress());
  }

  /**
   * Opens a store with the log. Returns null, and leaves no file, if these settings have no room
   * for the log; its records are then inserted one by one into an empty store.
   *
   * @param directory the store's directory
   */
  public @Nullable FasterStore tryOpen(StoreConfigBuilder settings, Path directory)
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
      FasterStore store = recover(config);
      forgetCheckpoints(store);
      isTaken = true;
      return store;
    } catch (BadConfig | OutOfBudget doesNotFit) {
      FileUtils.deleteDirectory(directory.toFile());
      return notTaken(doesNotFit.getMessage());
    }
  }

  /** The store closes the streams when all of the log is local or when the store is closed. */
  private FasterStore recover(StoreConfig config) throws IOException {
    RecoveryRequest request = RecoveryRequest.newest().onProgress(this::logProgress);
    OpenStreams streams = new OpenStreams(scope.logger());
    boolean isOpen = false;
    try {
      FasterStore store =
          scope.closing(streams, () -> FasterStore.recover(config, fill(config, request, streams)));
      isOpen = true;
      return store;
    } finally {
      if (!isOpen) {
        streams.close();
      }
    }
  }

  /** Removes the checkpoint: its files are temporary and not needed for another recovery. */
  private static void forgetCheckpoints(FasterStore store) {
    try {
      store.checkpoints().list().forEach(store.checkpoints()::remove);
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  /** The settings, with memory divided according to the index sizes of the log's stores. */
  public StoreConfig split(StoreConfigBuilder settings) {
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

  private @Nullable FasterStore notTaken(@Nullable String because) {
    scope
        .logger()
        .log(
            Level.INFO,
            "the log of a checkpoint does not fit the store, and its records are inserted one by"
                + " one: "
                + because);
    return null;
  }

  /**
   * Writes the log's files to the store's directory; returns the request that recovers from them.
   */
  private RecoveryRequest fill(StoreConfig config, RecoveryRequest request, OpenStreams streams)
      throws IOException {
    Path directory = config.directory();
    Path local = common.isWhole() ? common.source().localDirectory() : null;
    try (StoreImport.Target target = common.log().into(directory)) {
      if (local == null) {
        CheckpointOrigin origin =
            CheckpointOrigin.open(
                common,
                streams,
                directory.resolveSibling("origin"),
                scope,
                scope.streams(config.scratchBytes()));
        target.finish(origin.pieces());
        return request.from(origin);
      }
      LocalCopy.takeInto(target, local, streams);
    }
    scope
        .logger()
        .log(
            Level.INFO,
            "reused the local copy of a checkpoint's log: checkpoint="
                + common.source().handle().getCheckpointId()
                + ", directory="
                + local);
    return request;
  }

  /** Logs the progress of a recovery; stops a recovery that was cancelled. */
  private void logProgress(RecoveryProgress recovery) {
    scope.check();
    progress.logProgress("opening a store on the log of a checkpoint", recovery);
  }
}

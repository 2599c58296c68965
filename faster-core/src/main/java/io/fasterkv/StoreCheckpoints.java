package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.CommitListener;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.checkpoint.write.KeptCheckpoints;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreIntegration;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A store's checkpoints. {@link Checkpoints} inspects those of a store that is not open. Safe for
 * all threads.
 */
public final class StoreCheckpoints {
  private final ClosingGate gate;
  private final @Nullable CheckpointDriver driver;
  private final @Nullable KeptCheckpoints kept;
  private final SortedMap<String, CommitPoint> recoveredPoints;

  /**
   * @param driver null for a store in memory, as is {@code kept}
   */
  StoreCheckpoints(
      ClosingGate gate,
      @Nullable CheckpointDriver driver,
      @Nullable KeptCheckpoints kept,
      SortedMap<String, CommitPoint> recoveredPoints) {
    this.gate = gate;
    this.driver = driver;
    this.kept = kept;
    this.recoveredPoints = recoveredPoints;
  }

  /**
   * Takes a fold-over checkpoint with the index (CPR, SIGMOD'19, section 6) and returns when it is
   * durable. Sessions continue meanwhile. The checkpoint contains all operations that ended before
   * this call; of each session, it contains all operations before some moment and none after.
   * Checkpoints run one at a time.
   *
   * <p>A checkpoint does not wait for idle sessions: this thread completes their pending
   * operations, with their functions. A store that was opened from a {@link
   * io.fasterkv.spi.LogOrigin} first copies its whole log, as {@link StoreIntegration#copyOrigin}
   * does. The call waits for that copy, and an interrupt ends this wait but no other.
   *
   * @return the checkpoint's number
   * @throws BadConfig if the store is in memory
   */
  public CheckpointToken take() {
    return take(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
  }

  /**
   * Takes a checkpoint of the requested kind and returns when it is durable; see {@link #take()}.
   *
   * @param request the kind, and whether to include the index
   * @return the checkpoint's number
   * @throws BadConfig if the store is in memory
   * @throws io.fasterkv.api.StoreException.DiskFull if the disk has no space for it; the next
   *     checkpoint that succeeds contains what this one would have contained
   */
  public CheckpointToken take(CheckpointRequest request) {
    return gate.whileOpen(() -> driver().take(request));
  }

  /** See {@link StoreIntegration#export}. */
  StoreExport export() {
    return gate.whileOpen(() -> driver().export());
  }

  /**
   * {@return the checkpoints that the store keeps, oldest first; each stays until it is removed}
   */
  public List<CheckpointToken> list() {
    gate.requireOpen();
    return kept == null ? List.of() : kept.tokens();
  }

  /**
   * Removes a checkpoint durably, and frees the part of the log that only it needed. The caller
   * alone decides which checkpoints are kept: nothing else removes one, except a {@link
   * FasterStore#recover(StoreConfig, CheckpointToken)} to an older one.
   *
   * @param token the checkpoint
   * @throws BadConfig if the store has no such checkpoint
   */
  public void remove(CheckpointToken token) {
    gate.requireOpen();
    if (kept == null) {
      throw new BadConfig(
          "a store in memory has no checkpoints: number=" + token.number() + ", allowed=none");
    }
    gate.whileOpen(() -> {
      kept.remove(token);
      return token;
    });
  }

  /**
   * Notifies a listener of each later checkpoint once it is durable. The commit says which
   * operations of each named session the application no longer needs to retain.
   *
   * @param listener receives the commits, until the result is closed
   * @return close it to remove the listener
   * @throws BadConfig if the store is in memory
   */
  public CommitListener.Registration onCommit(CommitListener listener) {
    return driver().listen(listener);
  }

  /**
   * {@return for each named session of the checkpoint that the store was recovered from, which of
   * its operations are in the store; empty if the store was not recovered}
   */
  public SortedMap<String, CommitPoint> recoveredPoints() {
    return recoveredPoints;
  }

  CheckpointDriver driver() {
    gate.requireOpen();
    if (driver == null) {
      throw new BadConfig(
          "a store in memory takes no checkpoint: directory=none, allowed=a directory; open the"
              + " store with StoreConfig.builder(directory), or scan a cut and keep what it shows");
    }
    return driver;
  }
}

package io.fasterkv.api;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which checkpoint to recover from, and how. Immutable: each method returns another request.
 *
 * @param token the checkpoint; null for the newest
 * @param fallsBack whether an older one is taken if that one cannot be read
 * @param usesIndex whether an index image is loaded if there is one
 * @param verifies whether all bytes of the log are read and compared with their checksums first
 * @param listener told how far recovery has come, on the recovering thread
 * @param origin where the log is, if it is not in the store's directory yet
 */
public record RecoveryRequest(
    @Nullable CheckpointToken token,
    boolean fallsBack,
    boolean usesIndex,
    boolean verifies,
    Consumer<RecoveryProgress> listener,
    @Nullable LogOrigin origin) {

  /** The newest complete checkpoint that can be recovered from; an error if it cannot be read. */
  public static RecoveryRequest newest() {
    return new RecoveryRequest(null, false, true, true, progress -> {}, null);
  }

  /** A checkpoint that is named. Later ones are removed. */
  public static RecoveryRequest of(CheckpointToken token) {
    return new RecoveryRequest(token, false, true, true, progress -> {}, null);
  }

  /**
   * If the checkpoint cannot be read, takes the newest older one that can, whole. Those that could
   * not be read are removed then, with all that came after.
   */
  public RecoveryRequest fallingBack() {
    return new RecoveryRequest(token, true, usesIndex, verifies, listener, origin);
  }

  /** Makes the index anew from the log, as if there were no image of it. */
  public RecoveryRequest withoutIndex() {
    return new RecoveryRequest(token, fallsBack, false, verifies, listener, origin);
  }

  /**
   * Takes the log's bytes for what they should be, for who has just put them there and compared
   * them. What is read of them is checked all the same, where it is read.
   */
  public RecoveryRequest withoutVerifying() {
    return new RecoveryRequest(token, fallsBack, usesIndex, false, listener, origin);
  }

  /** Tells how far it has come: at the start and end of each phase, and now and then between. */
  public RecoveryRequest onProgress(Consumer<RecoveryProgress> progressListener) {
    return new RecoveryRequest(token, fallsBack, usesIndex, verifies, progressListener, origin);
  }

  /**
   * Opens the store before all of its log is in its directory, which {@link
   * io.fasterkv.StoreImport.Target#finish} has made of the pieces' names alone. The index is made
   * of the digests of the files; the log is read where it is when it is needed, and copied after
   * {@link io.fasterkv.FasterStore#copyOrigin}, or before the first checkpoint. What is read is
   * compared with its checksums. The store closes the origin.
   *
   * @param elsewhere has the log of the checkpoint that is recovered, piece by piece the same: a
   *     recovery from one that was taken later needs no origin, and refuses it
   */
  public RecoveryRequest from(LogOrigin elsewhere) {
    return new RecoveryRequest(token, fallsBack, false, false, listener, elsewhere);
  }
}

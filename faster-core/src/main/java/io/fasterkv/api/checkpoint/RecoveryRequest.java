package io.fasterkv.api.checkpoint;

import io.fasterkv.spi.LogOrigin;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Selects the checkpoint to recover from, and how. Immutable: each method returns a new request.
 *
 * @param token the checkpoint; null for the newest
 * @param fallsBack whether recovery uses an older checkpoint if that one cannot be read
 * @param usesIndex whether recovery loads an index image if there is one
 * @param verifies whether recovery first reads the whole log and verifies its checksums
 * @param listener receives progress reports, on the recovering thread
 * @param origin provides the log if it is not in the store's directory yet; null if it is
 */
public record RecoveryRequest(
    @Nullable CheckpointToken token,
    boolean fallsBack,
    boolean usesIndex,
    boolean verifies,
    Consumer<RecoveryProgress> listener,
    @Nullable LogOrigin origin) {

  /**
   * Requests the newest complete checkpoint that a store can be recovered from. Recovery fails if
   * it cannot be read.
   *
   * @return the request
   */
  public static RecoveryRequest newest() {
    return new RecoveryRequest(null, false, true, true, progress -> {}, null);
  }

  /**
   * Requests a certain checkpoint. Recovery removes later ones.
   *
   * @param token the checkpoint
   * @return the request
   */
  public static RecoveryRequest of(CheckpointToken token) {
    return new RecoveryRequest(token, false, true, true, progress -> {}, null);
  }

  /**
   * Allows recovery to use an older checkpoint. If the requested one cannot be read, recovery uses
   * the newest older one that can be read completely. It then removes all later checkpoints,
   * including those that could not be read.
   *
   * @return a new request
   */
  public RecoveryRequest fallingBack() {
    return new RecoveryRequest(token, true, usesIndex, verifies, listener, origin);
  }

  /**
   * Rebuilds the index from the log, ignoring any index image.
   *
   * @return a new request
   */
  public RecoveryRequest withoutIndex() {
    return new RecoveryRequest(token, fallsBack, false, verifies, listener, origin);
  }

  /**
   * Skips the verification of the whole log, for a caller that has just written and verified these
   * bytes. Later reads still verify what they read.
   *
   * @return a new request
   */
  public RecoveryRequest withoutVerifying() {
    return new RecoveryRequest(token, fallsBack, usesIndex, false, listener, origin);
  }

  /**
   * Reports progress at the start and the end of each phase, and from time to time in between.
   *
   * @param progressListener receives the reports, on the recovering thread
   * @return a new request
   */
  public RecoveryRequest onProgress(Consumer<RecoveryProgress> progressListener) {
    return new RecoveryRequest(token, fallsBack, usesIndex, verifies, progressListener, origin);
  }

  /**
   * Opens the store before its whole log is in its directory. {@link
   * io.fasterkv.spi.StoreImport.Target#finish} has created that directory from the list of pieces
   * alone. Recovery builds the index from the digests of the files. The store reads the log from
   * the origin as needed, and copies it after a call of {@link
   * io.fasterkv.spi.StoreIntegration#copyOrigin}, or before its first checkpoint. It verifies the
   * checksums of what it reads. The store closes the origin.
   *
   * @param elsewhere contains exactly the log of the requested checkpoint, piece by piece. A
   *     checkpoint that was taken after the copy needs no origin, and recovery rejects one
   * @return a new request
   */
  public RecoveryRequest from(LogOrigin elsewhere) {
    return new RecoveryRequest(token, fallsBack, false, false, listener, elsewhere);
  }
}

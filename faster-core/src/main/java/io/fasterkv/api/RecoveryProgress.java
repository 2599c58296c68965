package io.fasterkv.api;

/**
 * How far a recovery has come.
 *
 * @param phase what it is doing
 * @param doneBytes bytes that this phase has gone over
 * @param totalBytes bytes that this phase goes over in all
 * @param bytesPerSecond the mean rate of this phase so far; 0 at its start
 */
public record RecoveryProgress(
    Phase phase, long doneBytes, long totalBytes, double bytesPerSecond) {

  /** The phases of a recovery, in order; those that have nothing to do are left out. */
  public enum Phase {
    /** The image of the index is read and checked. */
    INDEX,
    /** A snapshot is written to its place in the log. */
    SNAPSHOT,
    /** The checksums of the log are compared. */
    VERIFY,
    /** The records that the index image does not know are put into the index. */
    REPLAY
  }
}

package io.fasterkv.api.checkpoint;

/**
 * Shows how far a recovery has progressed.
 *
 * @param phase the current phase
 * @param doneBytes bytes that this phase has processed
 * @param totalBytes bytes that this phase will process in total
 * @param bytesPerSecond the phase's average rate so far; 0 at its start
 */
public record RecoveryProgress(
    Phase phase, long doneBytes, long totalBytes, double bytesPerSecond) {

  /** The phases of a recovery, in order. A phase without work is skipped. */
  public enum Phase {
    /** Reads and verifies the index image. */
    INDEX,
    /** Writes a snapshot to its place in the log. */
    SNAPSHOT,
    /** Verifies the checksums of the log. */
    VERIFY,
    /** Inserts the records that are missing from the index image into the index. */
    REPLAY
  }
}

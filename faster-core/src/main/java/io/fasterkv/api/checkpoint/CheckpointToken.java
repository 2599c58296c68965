package io.fasterkv.api.checkpoint;

/**
 * Identifies a complete checkpoint in a store's directory.
 *
 * @param number from 1; a later checkpoint has a larger number
 */
public record CheckpointToken(long number) {
  /**
   * Checks the number.
   *
   * @throws IllegalArgumentException if the number is less than 1
   */
  public CheckpointToken {
    if (number < 1) {
      throw new IllegalArgumentException(
          "a checkpoint's number is out of range: number=" + number + ", allowed=1 and above");
    }
  }
}

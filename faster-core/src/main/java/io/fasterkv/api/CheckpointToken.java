package io.fasterkv.api;

/**
 * Names a complete checkpoint in a store's directory.
 *
 * @param number counts from 1; a later checkpoint has a larger number
 */
public record CheckpointToken(long number) {
  public CheckpointToken {
    if (number < 1) {
      throw new IllegalArgumentException(
          "a checkpoint's number is out of range: number=" + number + ", allowed=1 and above");
    }
  }
}

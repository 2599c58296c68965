package io.fasterkv;

import io.fasterkv.sim.DiskFaults;
import java.io.IOException;
import java.util.SplittableRandom;

/** Fails writes, reads and forces at random. */
class RandomFaults implements DiskFaults {
  private final SplittableRandom random;
  private final int oneIn;

  /**
   * @param oneIn one in this many requests fails
   */
  RandomFaults(SplittableRandom random, int oneIn) {
    this.random = random;
    this.oneIn = oneIn;
  }

  /** Fails the creation, renaming and deletion of files, too. */
  static RandomFaults everywhere(SplittableRandom random, int oneIn) {
    return new RandomFaults(random, oneIn) {
      @Override
      public void beforeName(String file) throws IOException {
        roll(file);
      }

      @Override
      public void beforeDelete(String file) throws IOException {
        roll(file);
      }
    };
  }

  final synchronized void roll(String file) throws IOException {
    if (random.nextInt(oneIn) == 0) {
      throw new IOException("by chance: " + file);
    }
  }

  @Override
  public int beforeWrite(String file, long position, int bytes) throws IOException {
    roll(file);
    return bytes;
  }

  @Override
  public int beforeRead(String file, long position, int bytes) throws IOException {
    roll(file);
    return bytes;
  }

  @Override
  public void beforeForce(String file) throws IOException {
    roll(file);
  }
}

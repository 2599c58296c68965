package io.fasterkv.sim;

import java.util.SplittableRandom;

/** Decides which effects of non-durable steps survive a power failure. */
public interface PowerCutFate {
  /** A disk writes this many bytes at a time or none of them. */
  int SECTOR_BYTES = 512;

  /** Everything that was done survives. */
  PowerCutFate ALL =
      new PowerCutFate() {
        @Override
        public int bytesKept(int step, long position, int bytes) {
          return bytes;
        }

        @Override
        public boolean isNameKept(int step) {
          return true;
        }
      };

  /** Only forced changes survive. */
  PowerCutFate NONE =
      new PowerCutFate() {
        @Override
        public int bytesKept(int step, long position, int bytes) {
          return 0;
        }

        @Override
        public boolean isNameKept(int step) {
          return false;
        }
      };

  /** How many bytes of a write reached the disk, from its first byte on. */
  int bytesKept(int step, long position, int bytes);

  /** Whether a change to the directory reached the disk. */
  boolean isNameKept(int step);

  /** Some steps survive, others do not, and some writes end at a sector in their middle. */
  static PowerCutFate some(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return new PowerCutFate() {
      @Override
      public int bytesKept(int step, long position, int bytes) {
        return switch (random.nextInt(3)) {
          case 0 -> 0;
          case 1 -> bytes;
          default -> random.nextInt(bytes / SECTOR_BYTES + 1) * SECTOR_BYTES;
        };
      }

      @Override
      public boolean isNameKept(int step) {
        return random.nextBoolean();
      }
    };
  }
}

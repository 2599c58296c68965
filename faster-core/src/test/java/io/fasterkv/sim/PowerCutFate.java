package io.fasterkv.sim;

import java.util.SplittableRandom;

/** Decides what a power cut leaves of each step that was not safe when it came. */
public interface PowerCutFate {
  /** A disk writes this much at a time or not at all. */
  int SECTOR_BYTES = 512;

  /** All that was done is there. */
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

  /** Only what was forced is there. */
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

  /** How many bytes of a write reached the disk, counted from its first. */
  int bytesKept(int step, long position, int bytes);

  /** Whether a change to the directory reached the disk. */
  boolean isNameKept(int step);

  /** Some steps are there, some are not, some writes end at a sector in their middle. */
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

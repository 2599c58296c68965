package io.fasterkv.bench.workload;

/**
 * A seeded bijection of the numbers from 0 to {@code size - 1}, without a table: a Feistel network
 * over the next even number of bits, repeated until the result is in range.
 */
final class Permutation {
  private static final int ROUNDS = 4;

  private final long size;
  private final long seed;
  private final int halfBits;
  private final long halfMask;

  Permutation(long size, long seed) {
    this.size = size;
    this.seed = seed;
    int bits = Math.max(2, Long.SIZE - Long.numberOfLeadingZeros(size - 1));
    halfBits = (bits + 1) / 2;
    halfMask = (1L << halfBits) - 1;
  }

  long apply(long number) {
    long permuted = number;
    do {
      permuted = network(permuted);
    } while (permuted >= size);
    return permuted;
  }

  private long network(long number) {
    long left = number >>> halfBits;
    long right = number & halfMask;
    for (int round = 0; round < ROUNDS; round++) {
      long next = left ^ (Mix.mix(right + seed * (round + 1)) & halfMask);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }
}

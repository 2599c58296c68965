package io.fasterkv.bench.workload;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Ranks by Zipf's law: rank {@code r}, from 0 on, has a probability proportional to {@code 1 / (r +
 * 1)^theta}. Uses the closed form of Gray et al., "Quickly generating billion-record synthetic
 * databases", SIGMOD'94.
 */
final class ZipfRanks {
  private static final ConcurrentMap<Law, Double> ZETAS = new ConcurrentHashMap<>();

  private record Law(long ranks, double theta) {}

  private final long ranks;
  private final double zeta;
  private final double alpha;
  private final double eta;
  private final double second;

  ZipfRanks(long ranks, double theta) {
    this.ranks = ranks;
    zeta = zeta(ranks, theta);
    alpha = 1 / (1 - theta);
    second = 1 + Math.pow(0.5, theta);
    eta = (1 - Math.pow(2.0 / ranks, 1 - theta)) / (1 - zeta(2, theta) / zeta);
  }

  /** The rank at a position from 0 to below 1 in the cumulative distribution. */
  long at(double place) {
    double scaled = place * zeta;
    if (scaled < 1 || ranks == 1) {
      return 0;
    }
    if (scaled < second || ranks == 2) {
      return 1;
    }
    return Math.min(ranks - 1, (long) (ranks * Math.pow(eta * place - eta + 1, alpha)));
  }

  /**
   * The sum over all ranks takes a second for tens of millions, and is computed for few different
   * numbers.
   */
  private static double zeta(long ranks, double theta) {
    return ZETAS.computeIfAbsent(new Law(ranks, theta), law -> sum(ranks, theta));
  }

  private static double sum(long ranks, double theta) {
    double sum = 0;
    for (long rank = 1; rank <= ranks; rank++) {
      sum += Math.pow(rank, -theta);
    }
    return sum;
  }
}

package io.fasterkv.bench.runs;

import io.fasterkv.bench.args.Converters;
import picocli.CommandLine.ITypeConverter;

/**
 * How fast events are due.
 *
 * @param eventsPerSecond 0 for a share, or for as fast as a job can
 * @param share of rocksdb's highest throughput; 0 if it is none
 */
record RateChoice(long eventsPerSecond, double share) {
  private static final String ALLOWED = "1 to 1g, or a share of rocksdb's throughput such as 70%";
  private static final long MOST = 1_000_000_000;

  /** As fast as possible. */
  static final RateChoice NONE = new RateChoice(0, 0);

  static RateChoice of(String value) {
    if (Percent.isOne(value)) {
      return new RateChoice(0, Percent.share(value, ALLOWED));
    }
    long rate = new Converters.OfCount().convert(value);
    if (rate < 1 || rate > MOST) {
      throw Percent.refusal(value, ALLOWED);
    }
    return new RateChoice(rate, 0);
  }

  boolean isShare() {
    return share > 0;
  }

  /** The rate where rocksdb's highest throughput is this one, in events a second. */
  long rateFor(double highest) {
    return isShare() ? Math.max(1, (long) (highest * share)) : eventsPerSecond;
  }

  /** Reads the option. */
  static final class Converter implements ITypeConverter<RateChoice> {
    @Override
    public RateChoice convert(String value) {
      return of(value);
    }
  }
}

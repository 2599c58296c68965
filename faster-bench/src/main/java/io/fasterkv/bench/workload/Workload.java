package io.fasterkv.bench.workload;

/**
 * The operations on keys.
 *
 * @param kind the operations
 * @param readPercent the percentage of reads in a mix; the others are upserts
 */
public record Workload(Kind kind, int readPercent) {
  public static final Workload RMW = new Workload(Kind.RMW, 0);
  public static final Workload READ = new Workload(Kind.READ, 100);
  public static final Workload UPSERT = new Workload(Kind.UPSERT, 0);

  /** The names that are allowed. */
  public static final String LABELS =
      "rmw, read, upsert, or READS:UPSERTS of a sum of 100, such as 50:50";

  /** The kinds of operation. */
  public enum Kind {
    RMW,
    READ,
    UPSERT,
    MIX
  }

  /** Reads and upserts, chosen at random. */
  public static Workload mix(int readPercent) {
    return switch (readPercent) {
      case 0 -> UPSERT;
      case 100 -> READ;
      default -> new Workload(Kind.MIX, readPercent);
    };
  }

  /**
   * The workload of that name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Workload named(String label) {
    return switch (label) {
      case "rmw" -> RMW;
      case "read" -> READ;
      case "upsert" -> UPSERT;
      default -> mixNamed(label);
    };
  }

  private static Workload mixNamed(String label) {
    int colon = label.indexOf(':');
    int reads = Integer.parseInt(label.substring(0, Math.max(0, colon)));
    int upserts = Integer.parseInt(label.substring(colon + 1));
    if (reads < 0 || upserts < 0 || reads + upserts != 100) {
      throw new IllegalArgumentException(label);
    }
    return mix(reads);
  }

  /** How it is written on the command line. */
  public String label() {
    return switch (kind) {
      case RMW -> "rmw";
      case READ -> "read";
      case UPSERT -> "upsert";
      case MIX -> readPercent + ":" + (100 - readPercent);
    };
  }

  /** Whether values may have any count afterwards. */
  public boolean overwrites() {
    return kind == Kind.UPSERT || kind == Kind.MIX;
  }
}

package io.fasterkv.cpr;

/**
 * The operations of every session, as a function of a seed, so that any reader can recompute the
 * n-th operation of a session. Some keys are written by one session only, some are incremented by
 * all, and some are written blindly by all. An operation that is repeated after a crash, in another
 * life, is different, so that remains of the first attempt are detected.
 *
 * @param sessions number of sessions, numbered from 0
 * @param ownKeys number of keys that each session has to itself
 */
record Script(long seed, int sessions, int ownKeys) {
  /** Operations in a block; in some blocks they are all of one kind and may form one batch. */
  static final int BLOCK = 16;

  private static final int COUNTERS = 40;
  private static final int BLIND_KEYS = 40;
  private static final int HOT_KEYS = 6;
  private static final long SHARE_STRIDE = 1L << 32;
  private static final long SESSION_STRIDE = 1L << 20;

  enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  /** The sessions that write a key. */
  enum Share {
    OWN,
    COUNTER,
    BLIND
  }

  /**
   * One operation.
   *
   * @param stamp the value that it writes or adds, different for every operation
   */
  record Step(int session, long serial, Kind kind, long key, long stamp) {
    Share share() {
      return share(key);
    }

    static Share share(long key) {
      return Share.values()[(int) (key / SHARE_STRIDE)];
    }
  }

  /** The operation of a session with a given serial number, in a life. */
  Step step(int session, long serial, int life) {
    long dice = mix(mix(seed ^ serial * 0x9E3779B97F4A7C15L) + 31L * session + (long) life * 1009);
    Kind kind = batchKind(session, serial);
    Share share = share(dice & 7);
    if (kind == null) {
      kind = kind(share, dice >>> 3 & 7);
    } else if (share == (kind == Kind.RMW ? Share.BLIND : Share.COUNTER)) {
      share = Share.OWN;
    }
    return new Step(session, serial, kind, key(session, share, dice >>> 6), mix(dice) | 1);
  }

  /** Whether the operations from this one to the end of the block can be one batch. */
  boolean isBatch(int session, long serial) {
    return (serial - 1) % BLOCK == 0 && batchKind(session, serial) != null;
  }

  /** All keys that may have a value. */
  long[] keys() {
    int ownCount = sessions * ownKeys;
    long[] keys = new long[ownCount + COUNTERS + BLIND_KEYS];
    for (int i = 0; i < keys.length; i++) {
      if (i < ownCount) {
        keys[i] = i / ownKeys * SESSION_STRIDE + i % ownKeys;
      } else if (i < ownCount + COUNTERS) {
        keys[i] = SHARE_STRIDE + i - ownCount;
      } else {
        keys[i] = 2 * SHARE_STRIDE + i - ownCount - COUNTERS;
      }
    }
    return keys;
  }

  /** The kind of all operations of a block; null if each has its own. */
  private Kind batchKind(int session, long serial) {
    long dice = mix(seed + 17L * session + (serial - 1) / BLOCK);
    return switch ((int) (dice & 7)) {
      case 0 -> Kind.RMW;
      case 1 -> Kind.UPSERT;
      default -> null;
    };
  }

  private static Share share(long dice) {
    if (dice < 4) {
      return Share.OWN;
    }
    return dice < 6 ? Share.COUNTER : Share.BLIND;
  }

  private static Kind kind(Share share, long dice) {
    return switch (share) {
      case OWN ->
          switch ((int) dice) {
            case 0, 1 -> Kind.READ;
            case 2, 3 -> Kind.UPSERT;
            case 4 -> Kind.DELETE;
            default -> Kind.RMW;
          };
      case COUNTER -> dice == 0 ? Kind.READ : Kind.RMW;
      case BLIND ->
          switch ((int) dice) {
            case 0, 1 -> Kind.READ;
            case 2 -> Kind.DELETE;
            default -> Kind.UPSERT;
          };
    };
  }

  private long key(int session, Share share, long dice) {
    boolean isHot = (dice & 1) == 0;
    long draw = dice >>> 1;
    return switch (share) {
      case OWN ->
          session * SESSION_STRIDE + Long.remainderUnsigned(draw, isHot ? HOT_KEYS : ownKeys);
      case COUNTER -> SHARE_STRIDE + Long.remainderUnsigned(draw, isHot ? HOT_KEYS : COUNTERS);
      case BLIND -> 2 * SHARE_STRIDE + Long.remainderUnsigned(draw, isHot ? HOT_KEYS : BLIND_KEYS);
    };
  }

  /** Mixes the bits of a number. */
  static long mix(long x) {
    long h = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
    h = (h ^ h >>> 27) * 0x94D049BB133111EBL;
    return h ^ h >>> 31;
  }
}

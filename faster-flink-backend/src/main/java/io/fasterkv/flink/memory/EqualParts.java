package io.fasterkv.flink.memory;

import io.fasterkv.flink.memory.MemoryArbiter.Move;
import io.fasterkv.flink.memory.MemoryArbiter.Store;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides memory that no store needs now among those that have less than an equal part. Such a
 * store receives what is free, and its log also what stores with more than an equal part do not
 * use. It divides its part as it divides its lease when it opens: the log has the largest power of
 * two up to half of it.
 *
 * <p>The index receives its part at once: it grows best in one step. Spare memory is not touched,
 * and is the first that a store releases. The log, whose memory is touched when it arrives,
 * receives its part while it fills what it has.
 */
final class EqualParts {
  private EqualParts() {}

  /**
   * The next move; null if there is none.
   *
   * @param isKnown whether the stores were looked at for long enough to know what they use
   * @param free bytes that no store has
   * @param mostForIndexes the most bytes that an index may get now
   * @param step the most bytes that a log may get at a time
   * @param least the fewest bytes that are worth a move
   */
  static @Nullable Move next(
      List<Store> stores, boolean isKnown, long free, long mostForIndexes, long step, long least) {
    long sum = free + stores.stream().mapToLong(Store::bytes).sum();
    long part = sum / Math.max(1, stores.size());
    Move next = null;
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < stores.size(); i++) {
      Store store = stores.get(i);
      if (store.bytes() < fewest) {
        Move move = toLog(stores, i, part, isKnown, free, step, least);
        move = move != null ? move : toIndex(store, i, part, free, mostForIndexes, least);
        next = move != null ? move : next;
        fewest = move != null ? store.bytes() : fewest;
      }
    }
    return next;
  }

  private static @Nullable Move toIndex(
      Store store, int to, long part, long free, long most, long least) {
    long ofLog = logLack(store, part);
    long bytes = Math.min(lack(store, part) - ofLog, Math.min(free - ofLog, most));
    return bytes >= least ? new Move(Move.FREE, to, bytes, true) : null;
  }

  private static @Nullable Move toLog(
      List<Store> stores, int to, long part, boolean isKnown, long free, long step, long least) {
    Store store = stores.get(to);
    long bytes = Math.min(step, logLack(store, part));
    if (bytes < least || !store.isFilled()) {
      return null;
    }
    if (free >= least) {
      return new Move(Move.FREE, to, Math.min(bytes, free), false);
    }
    for (int from = 0; from < stores.size() && isKnown; from++) {
      long offered = Math.min(bytes, unused(stores.get(from), part));
      if (offered >= least) {
        return new Move(from, to, offered, false);
      }
    }
    return null;
  }

  private static long lack(Store store, long part) {
    return Math.min(store.acceptable(), part - store.bytes());
  }

  private static long logLack(Store store, long part) {
    long most = Math.min(lack(store, part), store.acceptableByLog());
    return Math.clamp(Long.highestOneBit(part / 2) - store.uses().logBytes(), 0, Math.max(0, most));
  }

  /**
   * What a store neither uses nor needs for an equal part. A log that reads from disk may have
   * received memory that it has not filled yet.
   */
  private static long unused(Store store, long part) {
    long unused = store.diskReads() == 0 ? store.unusedBytes() : store.uses().spareIndexBytes();
    return Math.min(store.bytes() - part, Math.min(store.releasable(), unused));
  }
}

package io.fasterkv.api;

import org.jspecify.annotations.Nullable;

/**
 * Says which records a store still has to keep, so that compaction can let go of what has expired,
 * or belongs to nothing any more (SIGMOD'18, appendix C, by record instead of by address). A record
 * that is let go is not copied to the tail: its key is absent, as after a delete, once the log's
 * begin has passed it. Until then operations find it, and so does who recovers a checkpoint that
 * was taken before.
 *
 * <p>Asked for each ordinary record that compaction would copy, and for samples of the log. It may
 * have been replaced by a newer record of the key meanwhile; then the answer does not count. A
 * value that has deltas is first made one record, and that is asked about in the next pass.
 */
public interface KeepRule {

  /** A value that does not fit a log page is judged by its first bytes: so many, if it has them. */
  int LARGE_VALUE_BYTES = 64;

  /** Whether it keeps all records for now; then no sample is taken. Called by any thread. */
  default boolean keepsAll() {
    return false;
  }

  /**
   * Whether what it does not keep is to go soon. It then leaves memory, too, though it has to be
   * written to the device for that, and goes where a checkpoint keeps the log, though copies of the
   * rest take more of the disk until the checkpoint goes. Otherwise it goes as its memory is needed
   * and as checkpoints come and go. Called by any thread.
   */
  default boolean isEager() {
    return true;
  }

  /**
   * Whether the record has to stay. Called by a thread that compacts, several at a time where
   * compaction is asked for by hand; uses the store by {@code store} only, and keeps nothing of key
   * and value. What it throws fails the compaction.
   *
   * <p>The answer takes effect later: until then the rule's owner must not write what would make it
   * wrong, unless that is a newer record of the key.
   */
  boolean keeps(ByteSpan key, ByteSpan value, Lookup store);

  /**
   * What of a record that has to stay, and lies in one piece, is still needed: {@code value}, or a
   * shorter value that compaction copies in its place. Called as {@link #keeps} is, right after it.
   * Operations may find either of the two from then on, until the record is replaced or changed;
   * who recovers a checkpoint that was taken before finds the first.
   */
  default ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    return value;
  }

  /** Looks up other keys for a rule, during the call that it was given to. */
  interface Lookup {

    /**
     * The value that a key has now, in memory or on disk; null if it has none. All that has been
     * written before the call shows in it. Valid until the next call.
     */
    @Nullable ByteSpan find(ByteSpan key);
  }
}

package io.fasterkv.api.config;

import io.fasterkv.api.ByteSpan;
import org.jspecify.annotations.Nullable;

/**
 * Decides which live records the store must keep, so that compaction can drop records that have
 * expired or belong to nothing any more (SIGMOD'18, appendix C, but per record instead of per
 * address). Compaction does not copy a dropped record to the tail. The record's key is absent, as
 * after a delete, once the begin address has passed the record. Until then operations still find
 * the record, and so does a recovery from a checkpoint that was taken before.
 *
 * <p>Compaction calls the rule for each ordinary record that it would copy, and for samples of the
 * log. If a newer record of the key appears meanwhile, the answer is ignored. A value with deltas
 * is first merged into one record, and the next compaction run calls the rule for that record.
 */
public interface KeepRule {

  /**
   * The rule sees only the first bytes of a value that does not fit a log page: this many, or fewer
   * if the value is shorter.
   */
  int LARGE_VALUE_BYTES = 64;

  /**
   * Tells whether the rule keeps all records for now; compaction then takes no samples. May be
   * called by any thread.
   *
   * @return true if every record is kept at the moment
   */
  default boolean keepsAll() {
    return false;
  }

  /**
   * Tells whether dropped records should be freed soon. If so, compaction also frees records that
   * are still in memory, although it must write them to the device first, and records in a log part
   * that a checkpoint retains, although copies of the remaining records take more disk space until
   * that checkpoint is removed. If not, records are freed as their memory is needed and as
   * checkpoints are taken and removed. May be called by any thread.
   *
   * @return true to free dropped records soon
   */
  default boolean isEager() {
    return true;
  }

  /**
   * Decides whether a record must stay. Runs on a compacting thread; with compaction on request,
   * several threads call it concurrently. The rule may access the store only through {@code store},
   * and must not retain the key or the value. An exception that it throws fails the compaction.
   *
   * <p>The answer takes effect later. Until then the owner of the rule must not write anything that
   * would make the answer wrong, except a newer record of the same key.
   *
   * @param key the record's key
   * @param value the record's value, or the first {@link #LARGE_VALUE_BYTES} of one that does not
   *     fit a log page
   * @param store looks up other keys during this call
   * @return true if the record must stay
   */
  boolean keeps(ByteSpan key, ByteSpan value, Lookup store);

  /**
   * Returns the part of a record's value that is still needed. Called right after {@link #keeps}
   * has returned true, under the same rules, for values that are stored in one piece. If the result
   * is shorter, compaction copies it in place of the old value. From then on operations may find
   * either of the two, until the record is replaced or changed; a recovery from an earlier
   * checkpoint finds the old value.
   *
   * @param key the record's key
   * @param value the record's whole value
   * @return {@code value}, or a shorter value
   */
  default ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    return value;
  }

  /** Looks up other keys for a rule, during the call that it was passed to. */
  interface Lookup {

    /**
     * Finds the current value of a key, in memory or on disk. All writes that completed before the
     * call are visible.
     *
     * @param key the key
     * @return the value, valid until the next call; null if the key has none
     */
    @Nullable ByteSpan find(ByteSpan key);
  }
}

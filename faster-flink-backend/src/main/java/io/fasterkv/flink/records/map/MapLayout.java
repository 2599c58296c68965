package io.fasterkv.flink.records.map;

import io.fasterkv.flink.records.base.Numbers;
import io.fasterkv.flink.records.base.PartLayout;

/**
 * The shape of a map.
 *
 * <pre>
 *   head record (sub number 0)
 *   | INLINE  | entries ...                                                           |
 *   | RUNS    | incarnation: 8 | next run: 4 | entries ...                               |
 *   | BUCKETS | incarnation: 8 | next run: 4 | buckets: 4 | used buckets: 4               |
 *
 *   bucket i, under sub number 1 + i; an empty bucket has no record
 *   | incarnation: 8 | ends of lanes 0, 1, 2: 4 each | entries of lane 0 ... | of lane 3 ... |
 *
 *   entry
 *   | length of user key * 2 + 0 | length of value | user key | value |     inline
 *   | 8 * 2 + 1                  | 12              | hash: 8  | run: 4, stamp: 8 |  in a run of records
 *   | varint                     | varint          |
 *
 *   run: records under sub numbers n, n + 1, ...
 *   | length of the whole: 4 | length of user key: 4 | user key | value ... |
 *   each record begins with | incarnation: 8 | FIRST or NEXT | stamp: 8 |
 * </pre>
 *
 * <p>A map starts inline and gets the second kind of head with its first run. When it outgrows
 * {@link #INLINE_BYTES}, its entries are spread over buckets by linear hashing (Litwin, VLDB 1980):
 * with N buckets, the next to be split is N without its highest bit, so only N is stored. A put
 * that makes its bucket longer than {@link #crowdedBytes} splits the next one, if that is longer
 * than {@link #bucketBytes} and half of the buckets have entries. So a put or a removal writes the
 * head only if a bucket appears, disappears or is split, or if entries can expire. The hash also
 * selects one of the bucket's {@link Lanes}. Entries too large for a bucket are stored in runs of
 * records, which also have the user key. The stamp of such an entry is the second to ninth byte of
 * its value, or zero. Where entries expire, these bytes are the timestamp. Compaction then drops
 * single entries, buckets and records of runs, and the head after its last bucket; so a map may
 * have fewer entries than its head says. A map with buckets keeps them until its last entry is
 * removed. {@link PartLayout} explains the incarnation.
 */
public final class MapLayout {
  public static final byte INLINE = 0;
  public static final byte BUCKETS = 1;
  public static final byte RUNS = 2;
  public static final int TAG_AT = 0;
  static final int TAG_BYTES = 1;
  static final int NEXT_RUN_AT = PartLayout.HEAD_INCARNATION_AT + PartLayout.INCARNATION_BYTES;
  static final int RUNS_HEAD_BYTES = NEXT_RUN_AT + Integer.BYTES;
  public static final int BUCKETS_AT = RUNS_HEAD_BYTES;
  static final int USED_AT = BUCKETS_AT + Integer.BYTES;

  static final int BUCKET_ENDS_AT = PartLayout.INCARNATION_BYTES;

  /** Position of the first entry in a bucket. */
  public static final int BUCKET_HEAD_BYTES = BUCKET_ENDS_AT + Lanes.ENDS_BYTES;

  /** Sub number of bucket 0. */
  static final int FIRST_BUCKET = 1;

  /** Sub number of the first run; the numbers of runs are above those of all buckets. */
  public static final int FIRST_RUN = 1 << 30;

  /** Maximum length of an inline map. */
  static final int INLINE_BYTES = 1 << 10;

  /** Maps of up to this many bytes are iterated in the order of their serialized user keys. */
  static final int ORDERED_BYTES = 128 << 10;

  /** Start of a run: the length of user key and value, and the length of the user key. */
  public static final int RUN_HEAD_BYTES = 2 * Integer.BYTES;

  static final byte FIRST = 0;
  static final byte NEXT = 1;
  static final int STAMP_BYTES = Long.BYTES;

  public static final int RUN_TAG_AT = PartLayout.INCARNATION_BYTES;

  /** Position of the entry's stamp in a record of a run. */
  public static final int RUN_STAMP_AT = RUN_TAG_AT + 1;

  /** Length of the header of a record of a run. */
  public static final int RUN_RECORD_BYTES = RUN_STAMP_AT + STAMP_BYTES;

  /** Position of the stamp in a value. */
  public static final int STAMP_AT = 1;

  private static final int MOST_ENTRY_BYTES = 2 << 10;

  /** A bucket holds 64 entries of {@code long}, each of 19 bytes. */
  private static final int BUCKET_BYTES = 64 * 19;

  private MapLayout() {}

  /** Position of the first entry in a head that has entries. */
  public static int entriesAt(byte tag) {
    return tag == INLINE ? TAG_BYTES : RUNS_HEAD_BYTES;
  }

  /** Whether a block is a bucket, by the position of its first entry. */
  static boolean hasLanes(int firstEntryAt) {
    return firstEntryAt == BUCKET_HEAD_BYTES;
  }

  /** Maximum length of an entry in a block; a larger entry is stored in a run. */
  static int entryLimit(int recordLimit) {
    return Math.min(recordLimit / 4, MOST_ENTRY_BYTES);
  }

  /** Maximum length of an inline map; a longer one is spread over buckets. */
  static int inlineLimit(int recordLimit) {
    return Math.min(recordLimit, INLINE_BYTES);
  }

  /**
   * The length up to which a bucket is not split. Buckets that have not been split in this round
   * are twice as long as those that have, so their average is 0.9 to 1.5 times this length.
   */
  public static int bucketBytes(int recordLimit) {
    return Math.min(bucketLimit(recordLimit) / 3, BUCKET_BYTES);
  }

  /** The length above which a bucket that grows causes a split. */
  static int crowdedBytes(int recordLimit) {
    return bucketBytes(recordLimit) * 7 / 4;
  }

  /** Maximum length of a bucket; a longer one has its largest entries moved to runs. */
  public static int bucketLimit(int recordLimit) {
    return Math.min(recordLimit + recordLimit / 2, 16 * INLINE_BYTES);
  }

  /** Whether a record of a run is its first. */
  public static boolean isFirst(byte tag) {
    return tag == FIRST;
  }

  /** The stamp of a value. */
  static long stamp(byte[] value, int offset, int length) {
    return length < STAMP_AT + STAMP_BYTES ? 0 : Numbers.getLong(value, offset + STAMP_AT);
  }

  /** The bucket of a hash among {@code buckets} buckets. */
  static int bucketOf(long hash, int buckets) {
    int low = Integer.highestOneBit(buckets) - 1;
    int wide = (int) hash & (low << 1 | 1);
    return wide < buckets ? wide : wide & low;
  }

  /** Length of user key and value of a run, from its first record. */
  public static int runLength(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start);
  }

  /** Length of the user key of a run, from its first record. */
  public static int runKeyLength(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + Integer.BYTES);
  }
}

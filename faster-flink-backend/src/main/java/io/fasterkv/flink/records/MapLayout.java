package io.fasterkv.flink.records;

/**
 * The shape of a map.
 *
 * <pre>
 *   head record (sub number 0)
 *   | INLINE  | entries ...                                                           |
 *   | RUNS    | identity: 8 | next run: 4 | entries ...                               |
 *   | BUCKETS | identity: 8 | next run: 4 | buckets: 4 | entries: 8 | their bytes: 8 |
 *
 *   bucket i, under sub number 1 + i; an empty bucket has no record
 *   | identity: 8 | ends of lanes 0, 1, 2: 4 each | entries of lane 0 ... | of lane 3 ... |
 *
 *   entry
 *   | length of user key * 2 + 0 | length of value | user key | value |     inline
 *   | 8 * 2 + 1                  | 12              | hash: 8  | run: 4, stamp: 8 |  in a run of records
 *   | varint                     | varint          |
 *
 *   run: records under sub numbers n, n + 1, ...
 *   | length of the whole: 4 | length of user key: 4 | user key | value ... |
 *   each record begins with | identity: 8 | FIRST or NEXT | stamp: 8 |
 * </pre>
 *
 * <p>A map starts inline, and gets the second kind of head with its first run. When it outgrows
 * {@link #INLINE_BYTES} it is spread over buckets by linear hashing (Litwin, VLDB 1980): with N
 * buckets, the one to be split next is N without its highest bit, so N is all that needs to be
 * remembered. Which of a bucket's {@link Lanes} an entry is in says its hash, too. Entries too
 * large for a bucket lie in runs of records that carry the user key too. The stamp of such an entry
 * is its value's second byte to its ninth, or zero. Where entries expire that is their timestamp,
 * and compaction drops entries, buckets and records of runs one by one, so that a map may have less
 * than its head says, and the head behind its last bucket. A map with buckets keeps them until its
 * last entry is gone. What the identity is for {@link PartLayout} says.
 */
public final class MapLayout {
  public static final byte INLINE = 0;
  public static final byte BUCKETS = 1;
  public static final byte RUNS = 2;
  public static final int TAG_AT = 0;
  static final int TAG_BYTES = 1;
  static final int NEXT_RUN_AT = PartLayout.HEAD_IDENTITY_AT + PartLayout.IDENTITY_BYTES;
  static final int RUNS_HEAD_BYTES = NEXT_RUN_AT + Integer.BYTES;
  static final int BUCKETS_AT = RUNS_HEAD_BYTES;
  static final int COUNT_AT = BUCKETS_AT + Integer.BYTES;
  static final int SIZE_AT = COUNT_AT + Long.BYTES;

  static final int BUCKET_ENDS_AT = PartLayout.IDENTITY_BYTES;

  /** Where a bucket has its first entry. */
  public static final int BUCKET_HEAD_BYTES = BUCKET_ENDS_AT + Lanes.ENDS_BYTES;

  /** Sub number of bucket 0. */
  static final int FIRST_BUCKET = 1;

  /** Sub number of the first run; runs come behind all buckets. */
  public static final int FIRST_RUN = 1 << 30;

  /** An inline map is at most this long. */
  static final int INLINE_BYTES = 1 << 10;

  /** Maps of up to this many bytes are iterated in the order of their serialized user keys. */
  static final int ORDERED_BYTES = 128 << 10;

  /** Start of a run: the length of user key and value, and the length of the user key. */
  public static final int RUN_HEAD_BYTES = 2 * Integer.BYTES;

  static final byte FIRST = 0;
  static final byte NEXT = 1;
  static final int STAMP_BYTES = Long.BYTES;

  public static final int RUN_TAG_AT = PartLayout.IDENTITY_BYTES;

  /** Where a record of a run has its entry's stamp. */
  public static final int RUN_STAMP_AT = RUN_TAG_AT + 1;

  /** A record of a run has so many bytes of its own. */
  public static final int RUN_RECORD_BYTES = RUN_STAMP_AT + STAMP_BYTES;

  /** Where a value has its stamp. */
  public static final int STAMP_AT = 1;

  private static final int MOST_ENTRY_BYTES = 2 << 10;

  /** So that 64 entries of {@code long}, each of 19 bytes, lie in a bucket. */
  private static final int BUCKET_BYTES = 64 * 19;

  private MapLayout() {}

  /** Where the first entry is in a head that has entries. */
  public static int entriesAt(byte tag) {
    return tag == INLINE ? TAG_BYTES : RUNS_HEAD_BYTES;
  }

  /** Whether a block whose first entry is there is a bucket. */
  static boolean hasLanes(int firstEntryAt) {
    return firstEntryAt == BUCKET_HEAD_BYTES;
  }

  /** A larger entry is put in a run. */
  static int entryLimit(int recordLimit) {
    return Math.min(recordLimit / 4, MOST_ENTRY_BYTES);
  }

  /** An inline map that would get longer is spread over buckets. */
  static int inlineLimit(int recordLimit) {
    return Math.min(recordLimit, INLINE_BYTES);
  }

  /**
   * Buckets are split so that on average they are this long. Those whose turn has not come are
   * twice as long as those that have been split.
   */
  static int bucketBytes(int recordLimit) {
    return Math.min(bucketLimit(recordLimit) / 3, BUCKET_BYTES);
  }

  /** A longer bucket is shortened by putting its largest entries in runs. */
  static int bucketLimit(int recordLimit) {
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

  /** The bucket of a hash when there are {@code buckets} of them. */
  static int bucketOf(long hash, int buckets) {
    int low = Integer.highestOneBit(buckets) - 1;
    int wide = (int) hash & (low << 1 | 1);
    return wide < buckets ? wide : wide & low;
  }

  /** Length of the user key and value in a run, from its first record. */
  public static int runLength(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start);
  }

  /** Length of the user key in a run, from its first record. */
  public static int runKeyLength(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + Integer.BYTES);
  }
}

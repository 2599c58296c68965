package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.Words;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Walks a quiet index and checks its structure; also for tests of other packages. */
public final class IndexWalk {
  /**
   * An entry that other threads can see.
   *
   * @param bucket number of its main bucket
   * @param tag the tag of the hashes for which it was made
   * @param sharedSlot its number in a saturated main bucket, which other tags may use too; else -1
   * @param address of the newest record, 0 for none
   */
  public record Entry(long bucket, long tag, int sharedSlot, long address) {}

  private final IndexTable index;
  private final long buckets;
  private final List<Entry> entries = new ArrayList<>();
  private final Set<Long> linked = new HashSet<>();

  private IndexWalk(IndexTable index) {
    this.index = index;
    buckets = index.memory().byteSize() / BucketLayout.BYTES;
  }

  /**
   * All entries, after checking that no tentative entry is left, no bucket and tag has two entries,
   * and no overflow bucket is in two chains.
   */
  public static List<Entry> entries(IndexTable index) {
    IndexWalk walk = new IndexWalk(index);
    for (long main = 0; main < index.mainBuckets(); main++) {
      walk.chain(main);
    }
    return walk.entries;
  }

  /** The main bucket that a hash chooses. */
  public static long bucketOf(IndexTable index, long hash) {
    return Math.unsignedMultiplyHigh(hash, index.mainBuckets());
  }

  /** The tag of a hash. */
  public static long tagOf(IndexTable index, long hash) {
    return BucketLayout.tag(index.entry(hash));
  }

  /** The number of the entry that a tag shares when its bucket is saturated. */
  public static int sharedSlotOf(long tag) {
    return BucketLayout.sharedEntry(tag);
  }

  /** The number of saturated main buckets. */
  public static int saturatedBuckets(IndexTable index) {
    int count = 0;
    for (long main = 0; main < index.mainBuckets(); main++) {
      if (BucketLayout.isSaturated(overflow(index, main))) {
        count++;
      }
    }
    return count;
  }

  private static long overflow(IndexTable index, long bucket) {
    return Words.loadVolatile(index.memory(), bucket * BucketLayout.BYTES + BucketLayout.OVERFLOW);
  }

  private void chain(long main) {
    boolean isSaturated = BucketLayout.isSaturated(overflow(index, main));
    Map<Long, Long> places = new HashMap<>();
    long bucket = main;
    do {
      for (int slot = 0; slot < BucketLayout.ENTRIES; slot++) {
        long at = bucket * BucketLayout.BYTES + (long) slot * Long.BYTES;
        long word = Words.loadVolatile(index.memory(), at);
        if (word != 0) {
          String place = "main bucket " + main + ", entry at " + at;
          assertThat(BucketLayout.isTentative(word)).as("a claim is left: " + place).isFalse();
          assertThat(word & BucketLayout.OCCUPIED).as("occupied: " + place).isNotZero();
          long tag = BucketLayout.tag(word);
          assertThat(places.putIfAbsent(tag, at)).as("tag " + tag + " twice: " + place).isNull();
          int sharedSlot = isSaturated && bucket == main ? slot : -1;
          entries.add(new Entry(main, tag, sharedSlot, BucketLayout.address(word)));
        }
      }
      bucket = BucketLayout.nextBucket(overflow(index, bucket));
      if (bucket != 0) {
        assertThat(bucket).as("chain of " + main).isBetween(index.mainBuckets(), buckets - 1);
        assertThat(linked.add(bucket)).as("bucket " + bucket + " in two chains").isTrue();
      }
    } while (bucket != 0);
  }
}

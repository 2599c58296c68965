package io.fasterkv.index;

import io.fasterkv.record.Address;
import java.util.stream.LongStream;

/**
 * Merges two neighbours into one bucket (SIGMOD'18, appendix B). Neighbours that were split from
 * one bucket have different tags ({@link io.fasterkv.record.HashTag}), so their entries come
 * together as they are. A tag leads to records from both if it lies across their border, or if the
 * table's number of buckets is no multiple of the one that its tags count from. It gets one entry;
 * where their chains differ, it leads to a fork, which directs a walk to the right chain by its
 * hash. Following both chains in sequence would be wrong: after an earlier split, the other chain
 * may have old records of the key.
 *
 * <p>If one of the two is saturated, or there are not enough overflow buckets, all tags share the
 * seven entries of the new main bucket, each the entry {@code tag % 7}. Such an entry leads to a
 * fork for each tag that had an entry of its own, and below these to a fork between what the
 * neighbours' tags shared there. Such forks take memory of the log and steps of a walk, but always
 * find a place.
 *
 * <p>Each step changes one entry, so a merge that finds no room in the log continues where it was.
 */
final class BucketMerge implements BucketMover {
  private final IndexTable from;
  private final IndexTable to;
  private final Chains chains;

  BucketMerge(IndexTable from, IndexTable to, Chains chains) {
    this.from = from;
    this.to = to;
    this.chains = chains;
  }

  @Override
  public int move(long bucket, int step) {
    FrozenChain left = new FrozenChain(from, 2 * bucket);
    FrozenChain right = new FrozenChain(from, 2 * bucket + 1);
    long[] tags = tags(left, right);
    BucketWriter writer = new BucketWriter(to, bucket);
    if (step == 0) {
      prepare(left.isSaturated() || right.isSaturated(), tags.length, writer);
    }
    Pair pair = new Pair(left, right, writer);
    int next = writer.isSaturated() ? pair.share(tags, step) : pair.give(tags, step);
    if (next == DONE) {
      from.countEntries(-left.entries() - right.entries());
    }
    return next;
  }

  private static void prepare(boolean isSaturated, int entries, BucketWriter writer) {
    if (isSaturated || !writer.lengthen(BucketWriter.overflowBucketsFor(entries), 0)) {
      writer.saturate();
    }
  }

  /**
   * An upper estimate: two for each entry, and all entries of each main bucket as if it were
   * saturated.
   */
  static long guessForksAtMost(IndexTable from) {
    return 2 * from.entries() + BucketLayout.ENTRIES * from.mainBuckets();
  }

  /** Maximum number of forks when all buckets are merged, with or without overflow buckets. */
  static long forksAtMost(IndexTable from, IndexTable to) {
    long forks = 0;
    long withoutOverflow = 0;
    long overflow = 0;
    for (long bucket = 0; bucket < to.mainBuckets(); bucket++) {
      FrozenChain left = new FrozenChain(from, 2 * bucket);
      FrozenChain right = new FrozenChain(from, 2 * bucket + 1);
      long[] tags = tags(left, right);
      boolean isSaturated = left.isSaturated() || right.isSaturated();
      int needed = isSaturated ? 0 : BucketWriter.overflowBucketsFor(tags.length);
      long sharing = BucketLayout.ENTRIES + 2L * tags.length;
      long giving = isSaturated ? sharing : meeting(tags, left, right);
      overflow += needed;
      forks += giving;
      withoutOverflow += needed > 0 ? sharing : giving;
    }
    return overflow <= to.geometry().overflowBuckets() ? forks : withoutOverflow;
  }

  private static long meeting(long[] tags, FrozenChain left, FrozenChain right) {
    return LongStream.of(tags)
        .filter(tag -> left.address(tag) != Address.NONE && right.address(tag) != Address.NONE)
        .count();
  }

  /** All tags that have an entry in one or both, each once; always the same result. */
  private static long[] tags(FrozenChain left, FrozenChain right) {
    return LongStream.concat(words(left), words(right))
        .filter(word -> BucketLayout.address(word) != 0)
        .map(BucketLayout::tag)
        .distinct()
        .toArray();
  }

  private static LongStream words(FrozenChain chain) {
    return LongStream.range(0, chain.size()).map(i -> chain.word((int) i));
  }

  /** Two neighbours and the bucket they move to. */
  private final class Pair {
    private final FrozenChain left;
    private final FrozenChain right;
    private final BucketWriter writer;

    Pair(FrozenChain left, FrozenChain right, BucketWriter writer) {
      this.left = left;
      this.right = right;
      this.writer = writer;
    }

    /** Gives each tag an entry. */
    int give(long[] tags, int firstStep) {
      for (int step = firstStep; step < tags.length; step++) {
        long address = join(left.address(tags[step]), right.address(tags[step]));
        if (address == Chains.RETRY) {
          return step;
        }
        if (address != Address.NONE) {
          writer.put(BucketLayout.withAddress(BucketLayout.entryOf(tags[step]), address));
        }
      }
      return DONE;
    }

    /** Puts all tags into the seven entries of the main bucket. */
    int share(long[] tags, int firstStep) {
      for (int step = firstStep; step < BucketLayout.ENTRIES + tags.length; step++) {
        boolean isDone =
            step < BucketLayout.ENTRIES
                ? shareRest(step)
                : shareTag(tags[step - BucketLayout.ENTRIES]);
        if (!isDone) {
          return step;
        }
      }
      return DONE;
    }

    private boolean shareRest(int slot) {
      return set(slot, join(left.shared(slot), right.shared(slot)));
    }

    private boolean shareTag(long tag) {
      int slot = BucketLayout.sharedEntry(tag);
      if (left.address(tag) == left.shared(slot) && right.address(tag) == right.shared(slot)) {
        return true;
      }
      long ofTag = join(left.address(tag), right.address(tag));
      long others = BucketLayout.address(writer.word(slot));
      if (ofTag == Chains.RETRY || ofTag == Address.NONE || ofTag == others) {
        return ofTag != Chains.RETRY;
      }
      return set(
          slot,
          others == Address.NONE ? ofTag : chains.joinByTag(others, ofTag, to.tagBase(), tag));
    }

    /**
     * Sets an entry of the main bucket. The tag in it is the entry's number, which shares this
     * entry anyway.
     */
    private boolean set(int slot, long address) {
      if (address != Chains.RETRY && address != Address.NONE) {
        writer.set(slot, BucketLayout.withAddress(BucketLayout.entryOf(slot), address));
      }
      return address != Chains.RETRY;
    }

    private long join(long leftAddress, long rightAddress) {
      return chains.join(leftAddress, rightAddress, from.mainBuckets());
    }
  }
}

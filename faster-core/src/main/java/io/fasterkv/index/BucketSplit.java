package io.fasterkv.index;

import io.fasterkv.index.Chains.Part;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Splits a bucket into two (SIGMOD'18, appendix B). No record is linked anew: each side's entry
 * leads to the first record of the chain that is the side's, and where memory has none, to where
 * the chain goes on on disk, which both sides then share. What else is in a chain does no harm,
 * since keys are compared.
 *
 * <p>A saturated bucket gets an entry of its own for each tag where that can be: when memory has
 * all of its shared chains, so that all their tags are known, and the table has room. Else both
 * sides keep the order of the entries, and share as before.
 *
 * <p>A side needs no more overflow buckets than the bucket had; so many are reserved when the
 * resize begins, and a split never lacks them.
 */
final class BucketSplit implements BucketMover {
  private final IndexTable from;
  private final IndexTable to;
  private final Chains chains;

  BucketSplit(IndexTable from, IndexTable to, Chains chains) {
    this.from = from;
    this.to = to;
    this.chains = chains;
    to.overflow().reserve(2 * from.overflowBucketsUsed());
  }

  @Override
  public int move(long bucket, int step) {
    FrozenChain old = new FrozenChain(from, bucket);
    fill(old, 2 * bucket);
    fill(old, 2 * bucket + 1);
    to.overflow().release(2L * old.overflowBuckets());
    return DONE;
  }

  private void fill(FrozenChain old, long side) {
    BucketWriter writer = new BucketWriter(to, side);
    long[] words = old.isSaturated() ? ownForAll(old, side) : own(old, side);
    int reserved = old.overflowBuckets();
    if (words != null && writer.lengthen(BucketWriter.overflowBucketsFor(words.length), reserved)) {
      for (long word : words) {
        writer.add(word);
      }
    } else {
      writer.lengthen(reserved, reserved);
      carryOver(old, side, writer);
    }
  }

  private long[] own(FrozenChain old, long side) {
    return LongStream.range(0, old.size())
        .map(i -> first(old.word((int) i), side))
        .filter(word -> word != 0)
        .toArray();
  }

  /** A word for each tag in a saturated bucket's memory, or null when there may be others. */
  private long @Nullable [] ownForAll(FrozenChain old, long side) {
    Map<Long, Long> newest = new LinkedHashMap<>();
    Part all = new Part(to.mainBuckets(), side, Part.ANY_TAG);
    for (int slot = 0; slot < BucketLayout.ENTRIES; slot++) {
      long word = old.word(slot);
      int shared = slot;
      long rest =
          chains.tags(
              BucketLayout.address(word),
              all,
              (tag, address) -> {
                boolean isShared = BucketLayout.sharedEntry(tag) == shared && !old.hasOwn(tag);
                if (isShared || (word != 0 && tag == BucketLayout.tag(word))) {
                  newest.putIfAbsent(tag, address);
                }
              });
      if (rest != 0) {
        return null;
      }
    }
    LongStream shared =
        newest.entrySet().stream()
            .mapToLong(e -> BucketLayout.withAddress(BucketLayout.entry(e.getKey()), e.getValue()));
    LongStream others =
        LongStream.range(BucketLayout.ENTRIES, old.size())
            .map(i -> first(old.word((int) i), side))
            .filter(word -> word != 0);
    return LongStream.concat(shared, others).toArray();
  }

  private void carryOver(FrozenChain old, long side, BucketWriter writer) {
    writer.saturate();
    for (int i = 0; i < old.size(); i++) {
      long word = old.word(i);
      long tag = old.isShared(i) ? Part.ANY_TAG : BucketLayout.tag(word);
      long address = first(word, new Part(to.mainBuckets(), side, tag));
      if (address != 0) {
        writer.set(i, BucketLayout.withAddress(word, address));
      }
    }
  }

  /** The side's word for an entry of one tag, or 0 for none. */
  private long first(long word, long side) {
    long address = first(word, new Part(to.mainBuckets(), side, BucketLayout.tag(word)));
    return address == 0 ? 0 : BucketLayout.withAddress(word, address);
  }

  private long first(long word, Part part) {
    long address = BucketLayout.address(word);
    return address == 0 ? 0 : chains.first(address, part);
  }
}

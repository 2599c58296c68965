package io.fasterkv.index;

import io.fasterkv.index.Chains.Part;
import io.fasterkv.record.Address;
import io.fasterkv.record.HashTag;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Splits a bucket into two or more (SIGMOD'18, appendix B). No record is relinked, and as a rule
 * none is read: a {@link HashTag} tells the side of an entry, which goes there as it is.
 *
 * <p>Two kinds of entries belong to several sides: those of tags that lie across a border, and all
 * in a table whose number of buckets is no multiple of the one that its tags count from. There,
 * each side's entry leads to the first record in memory that belongs to that side, or, if memory
 * has none, to the place where the chain continues on disk; the sides then share that part. Records
 * of other sides in a chain do no harm, since keys are compared.
 *
 * <p>A saturated bucket gets an entry of its own for each tag if all of its shared chains are in
 * memory, so that all their tags are known, and the table has room. Otherwise all sides keep the
 * order of the entries, share them as before, and are reopened: tags get entries of their own with
 * their next records.
 *
 * <p>A side needs at most as many overflow buckets as the bucket had. That many are reserved when
 * the resize begins, and more whenever the old table takes another one ({@link
 * OverflowBuckets#couple}), so a split never lacks them.
 */
final class BucketSplit implements BucketMover {
  private final IndexTable from;
  private final IndexTable to;
  private final Chains chains;
  private final int sides;

  /**
   * Number of new buckets in each of those that tags count from; 0 if an old bucket is larger than
   * one of these, or overlaps two, so that tags do not tell sides.
   */
  private final long parts;

  BucketSplit(IndexTable from, IndexTable to, Chains chains) {
    this.from = from;
    this.to = to;
    this.chains = chains;
    sides = Math.toIntExact(to.mainBuckets() / from.mainBuckets());
    boolean areWholeParts = from.mainBuckets() % from.tagBase() == 0;
    parts = areWholeParts ? to.mainBuckets() / to.tagBase() : 0;
    to.overflow().reserve(sides * from.overflowBucketsUsed());
  }

  /** Number of parts that each bucket is split into. */
  int sides() {
    return sides;
  }

  @Override
  public int move(long bucket, int step) {
    FrozenChain old = new FrozenChain(from, bucket);
    long first = bucket * sides;
    if (old.isSaturated()) {
      for (int side = 0; side < sides; side++) {
        fill(old, first + side, ownForAll(old, first + side));
      }
    } else {
      Words[] own = own(old, bucket);
      for (int side = 0; side < sides; side++) {
        fill(old, first + side, own[side].toArray());
      }
    }
    from.countEntries(-old.entries());
    // The last step: if the one before fails, the bucket is moved again.
    to.overflow().release((long) sides * old.overflowBuckets());
    return DONE;
  }

  private void fill(FrozenChain old, long side, long @Nullable [] words) {
    BucketWriter writer = new BucketWriter(to, side);
    int reserved = old.overflowBuckets();
    if (words != null
        && !writer.isSaturated()
        && writer.lengthen(BucketWriter.overflowBucketsFor(words.length), reserved)) {
      for (long word : words) {
        writer.put(word);
      }
    } else {
      writer.lengthen(reserved, reserved);
      carryOver(old, side, writer);
    }
  }

  /** The words of one side. */
  private static final class Words {
    private long[] words = new long[BucketLayout.ENTRIES];
    private int count;

    void add(long word) {
      if (count == words.length) {
        words = Arrays.copyOf(words, 2 * count);
      }
      words[count++] = word;
    }

    long[] toArray() {
      return Arrays.copyOf(words, count);
    }
  }

  /** The first side that can have hashes of a tag, if {@code first} is side 0. */
  private int lowestSide(long first, long tag) {
    return parts == 0 ? 0 : (int) Math.max(0, (tag * parts >>> HashTag.BITS) - first % parts);
  }

  /** The last side that can have hashes of a tag. */
  private int highestSide(long first, long tag) {
    long end = (tag + 1) * parts - 1 >>> HashTag.BITS;
    return parts == 0 ? sides - 1 : (int) Math.min(sides - 1, end - first % parts);
  }

  private boolean canHave(long side, long tag) {
    long first = side - side % sides;
    return lowestSide(first, tag) <= side - first && side - first <= highestSide(first, tag);
  }

  /** Collects a word for each tag of each side; walks a chain of several sides once. */
  private Words[] own(FrozenChain old, long bucket) {
    Words[] own = new Words[sides];
    Arrays.setAll(own, side -> new Words());
    long[] newest = new long[sides];
    for (int i = 0; i < old.size(); i++) {
      long word = old.word(i);
      if (BucketLayout.address(word) == Address.NONE) {
        continue;
      }
      Part part = new Part(from, bucket, BucketLayout.tag(word));
      int lowest = lowestSide(bucket * sides, part.tag());
      int highest = highestSide(bucket * sides, part.tag());
      if (lowest == highest) {
        own[lowest].add(word);
        continue;
      }
      Arrays.fill(newest, Address.NONE);
      long rest =
          chains.records(
              BucketLayout.address(word),
              part,
              (hash, address) -> {
                int side =
                    (int) (Math.unsignedMultiplyHigh(hash, to.mainBuckets()) - bucket * sides);
                newest[side] = newest[side] == Address.NONE ? address : newest[side];
              });
      for (int side = lowest; side <= highest; side++) {
        long address =
            newest[side] == Address.NONE
                ? first(rest, new Part(to, bucket * sides + side, part.tag()))
                : newest[side];
        if (address != Address.NONE) {
          own[side].add(BucketLayout.withAddress(word, address));
        }
      }
    }
    return own;
  }

  /**
   * Collects a word for each tag of a saturated bucket; null if chains on disk may have more tags.
   */
  private long @Nullable [] ownForAll(FrozenChain old, long side) {
    Map<Long, Long> newest = new LinkedHashMap<>();
    Part all = new Part(to, side, Part.ANY_TAG);
    for (int slot = 0; slot < BucketLayout.ENTRIES; slot++) {
      long word = old.word(slot);
      int shared = slot;
      long rest =
          chains.records(
              BucketLayout.address(word),
              all,
              (hash, address) -> {
                long tag = HashTag.of(hash, to.tagBase());
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
            .mapToLong(
                e -> BucketLayout.withAddress(BucketLayout.entryOf(e.getKey()), e.getValue()));
    LongStream others =
        LongStream.range(BucketLayout.ENTRIES, old.size())
            .map(i -> first(old.word((int) i), side))
            .filter(word -> word != 0);
    return LongStream.concat(shared, others).toArray();
  }

  private void carryOver(FrozenChain old, long side, BucketWriter writer) {
    writer.reopen();
    to.inheritBelow(chains.tailAddress());
    for (int i = 0; i < old.size(); i++) {
      long word = old.word(i);
      long tag = old.isShared(i) ? Part.ANY_TAG : BucketLayout.tag(word);
      long address = first(BucketLayout.address(word), new Part(to, side, tag));
      if (address != 0) {
        writer.set(i, BucketLayout.withAddress(word, address));
      }
    }
  }

  /** The side's word for the entry of one tag, or 0 if there is none. */
  private long first(long word, long side) {
    Part part = new Part(to, side, BucketLayout.tag(word));
    long address = first(BucketLayout.address(word), part);
    return address == 0 ? 0 : BucketLayout.withAddress(word, address);
  }

  private long first(long address, Part part) {
    boolean isPossible = !part.isOfOneTag() || canHave(part.bucket(), part.tag());
    return address == Address.NONE || !isPossible ? Address.NONE : chains.first(address, part);
  }
}

package io.fasterkv.index;

import io.fasterkv.record.HashTag;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Chains in a list: a record's address is its index plus 1. Records below {@code head} count as
 * being on disk, those below {@code begin} as dropped.
 */
final class FakeChains implements Chains {
  long head = 1;
  long begin = 1;

  private final List<Node> nodes = new ArrayList<>();
  private final BooleanSupplier isFull;

  private sealed interface Node {}

  /** The parts of a log record that chains need. */
  private record Linked(long hash, long previous) implements Node {}

  private record ByBucket(long left, long right, long mainBuckets) implements Node {}

  private record ByTag(long others, long ofTag, long base, long tag) implements Node {}

  /**
   * @param isFull called before a fork is made; returns whether the log has no room now
   */
  FakeChains(BooleanSupplier isFull) {
    this.isFull = isFull;
  }

  long append(long hash, long previous) {
    return add(new Linked(hash, previous));
  }

  long size() {
    return nodes.size();
  }

  long forks() {
    return nodes.stream().filter(node -> !(node instanceof Linked)).count();
  }

  /** The newest record of a hash at or below an address, or 0; includes records on disk. */
  long find(long hash, long from) {
    long at = from;
    while (at >= begin) {
      if (node(at) instanceof Linked linked && linked.hash == hash) {
        return at;
      }
      at = next(at, hash);
    }
    return 0;
  }

  @Override
  public long tailAddress() {
    return nodes.size() + 1L;
  }

  @Override
  public long first(long address, Part part) {
    long at = address;
    while (at >= Math.max(begin, head)) {
      if (node(at) instanceof Linked linked) {
        if (part.contains(linked.hash)) {
          return at;
        }
        at = linked.previous;
      } else if (isUndecided(node(at), part)) {
        return at;
      } else {
        at = next(at, aHashOf(part));
      }
    }
    return at < begin ? 0 : at;
  }

  @Override
  public long records(long address, Part part, RecordSink sink) {
    long at = address;
    while (at >= Math.max(begin, head)) {
      if (!(node(at) instanceof Linked linked)) {
        return at;
      }
      if (part.contains(linked.hash)) {
        sink.record(linked.hash, at);
      }
      at = linked.previous;
    }
    return at < begin ? 0 : at;
  }

  @Override
  public long join(long left, long right, long mainBuckets) {
    if (left < begin || right < begin || left == right) {
      long alive = Math.max(left, right);
      return alive < begin ? 0 : alive;
    }
    return isFull.getAsBoolean() ? RETRY : add(new ByBucket(left, right, mainBuckets));
  }

  @Override
  public long joinByTag(long others, long ofTag, long base, long tag) {
    return isFull.getAsBoolean() ? RETRY : add(new ByTag(others, ofTag, base, tag));
  }

  private long next(long at, long hash) {
    return switch (node(at)) {
      case Linked linked -> linked.previous;
      case ByBucket fork ->
          (Math.unsignedMultiplyHigh(hash, fork.mainBuckets) & 1) == 0 ? fork.left : fork.right;
      case ByTag fork -> HashTag.of(hash, fork.base) == fork.tag ? fork.ofTag : fork.others;
    };
  }

  private static boolean isUndecided(Node fork, Part part) {
    return fork instanceof ByBucket byBucket
        ? part.mainBuckets() % byBucket.mainBuckets != 0
        : !part.isOfOneTag();
  }

  /** A hash of the part: the lowest one of its bucket, or of its tag in that. */
  private static long aHashOf(Part part) {
    long first = lowest(part.bucket(), part.mainBuckets());
    if (!part.isOfOneTag()) {
      return first;
    }
    long last = lowest(part.bucket() + 1, part.mainBuckets()) - 1;
    long lastBase = Math.unsignedMultiplyHigh(last, part.tagBase());
    for (long base = Math.unsignedMultiplyHigh(first, part.tagBase()); base <= lastBase; base++) {
      long tagged = (base << HashTag.BITS) + part.tag();
      long hash = lowest(tagged, part.tagBase() << HashTag.BITS);
      hash = Long.compareUnsigned(hash, first) < 0 ? first : hash;
      if (part.contains(hash)) {
        return hash;
      }
    }
    // No hash of the bucket has the tag.
    return first;
  }

  /** The lowest hash in a bucket; 0 after the last one. */
  private static long lowest(long bucket, long buckets) {
    BigInteger all = BigInteger.ONE.shiftLeft(Long.SIZE);
    BigInteger product = all.multiply(BigInteger.valueOf(bucket));
    BigInteger count = BigInteger.valueOf(buckets);
    return product.add(count).subtract(BigInteger.ONE).divide(count).longValue();
  }

  private long add(Node node) {
    nodes.add(node);
    return nodes.size();
  }

  private Node node(long address) {
    return nodes.get((int) address - 1);
  }
}

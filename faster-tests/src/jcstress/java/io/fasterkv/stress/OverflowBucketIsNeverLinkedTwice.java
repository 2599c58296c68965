package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.LoadedImage;
import io.fasterkv.index.LoadedImage.Limits;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * Two threads check buckets of a forged image: both link to the same overflow bucket, which could
 * make a chain of buckets endless.
 */
@JCStressTest
@Outcome(
    id = {"-1, 56", "56, -1"},
    expect = ACCEPTABLE,
    desc = "one of the links is rejected")
@Outcome(expect = FORBIDDEN, desc = "both are accepted, or neither is")
@State
public class OverflowBucketIsNeverLinkedTwice {
  private static final long BUCKET_BYTES = 64;
  private static final long LINK = 56;
  private static final Pool<IndexTable> POOL =
      new Pool<>(OverflowBucketIsNeverLinkedTwice::linkedTwice);

  private final IndexTable table = POOL.take();
  private final LoadedImage image = new LoadedImage(table, new Limits(64, 4096, 3));
  private long first;
  private long second;

  private static IndexTable linkedTwice(OffHeapArena arena) {
    IndexTable table = new IndexTable(arena, new IndexGeometry(2, 1), 1);
    Words.storePlain(table.memory(), LINK, 2);
    Words.storePlain(table.memory(), BUCKET_BYTES + LINK, 2);
    return table;
  }

  @Actor
  public void checksFirst() {
    first = image.check(0, table.memory().asSlice(0, BUCKET_BYTES));
  }

  @Actor
  public void checksSecond() {
    second = image.check(1, table.memory().asSlice(BUCKET_BYTES, BUCKET_BYTES));
  }

  @Arbiter
  public void after(JJ_Result result) {
    result.r1 = first;
    result.r2 = second;
    POOL.give(table);
  }
}

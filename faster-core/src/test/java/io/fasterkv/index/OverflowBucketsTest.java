package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class OverflowBucketsTest {
  private static final int ROUNDS = 50_000;
  private static final int BUCKETS = 3;

  /** As in a growth: operations take buckets, and the old table reserves some for its parts. */
  @Test
  void aReservedBucketIsThereAlthoughOthersTakeSome() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < ROUNDS; round++) {
        OverflowBuckets fresh = new OverflowBuckets(1, 1 + BUCKETS, 0, () -> {});
        OverflowBuckets old = new OverflowBuckets(1, 1 + BUCKETS, 0, () -> {});
        old.couple(fresh, 2);
        AtomicInteger started = new AtomicInteger();
        Callable<List<Long>> splits =
            () -> {
              awaitBoth(started);
              return split(old, fresh);
            };
        Callable<List<Long>> takes =
            () -> {
              awaitBoth(started);
              return takeAll(fresh);
            };
        List<Long> taken = new ArrayList<>();
        for (Future<List<Long>> future : threads.invokeAll(List.of(splits, takes))) {
          taken.addAll(future.get());
        }
        assertThat(taken)
            .containsExactlyInAnyOrderElementsOf(
                LongStream.rangeClosed(1, BUCKETS).boxed().toList());
      }
    }
  }

  /** So that the two run at the same time. */
  private static void awaitBoth(AtomicInteger started) {
    started.incrementAndGet();
    while (started.get() < 2) {
      Thread.onSpinWait();
    }
  }

  /** Takes old buckets while there are any, then what is reserved for their parts. */
  private static List<Long> split(OverflowBuckets old, OverflowBuckets fresh) {
    List<Long> taken = new ArrayList<>();
    int chains = 0;
    while (old.take() != OverflowBuckets.NONE) {
      chains++;
    }
    for (int chain = 0; chain < chains; chain++) {
      taken.add(fresh.takeReserved());
      taken.add(fresh.takeReserved());
      fresh.release(2);
    }
    taken.addAll(takeAll(fresh));
    return taken;
  }

  private static List<Long> takeAll(OverflowBuckets from) {
    List<Long> taken = new ArrayList<>();
    for (long bucket = from.take(); bucket != OverflowBuckets.NONE; bucket = from.take()) {
      taken.add(bucket);
    }
    return taken;
  }

  @Test
  void bucketsThatAreAddedCanBeTaken() {
    OverflowBuckets buckets = new OverflowBuckets(5, 6, 1, () -> {});
    assertThat(buckets.take()).isEqualTo(OverflowBuckets.NONE);
    buckets.extend(1);
    assertThat(buckets.take()).isEqualTo(6);
    assertThat(buckets.take()).isEqualTo(OverflowBuckets.NONE);
    assertThat(buckets.used()).isEqualTo(2);
  }
}

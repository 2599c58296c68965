package io.fasterkv.lin;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.lin.Op.Answer;
import io.fasterkv.lin.Op.Kind;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the checker itself: it accepts possible histories and detects broken registers. */
class LinearizabilityTest {
  private static final int ROUNDS = 20_000;

  private static Op op(Kind kind, long input, Answer answer, long begun, long ended) {
    return new Op(kind, input, answer, OptionalLong.empty(), begun, ended);
  }

  private static Op read(OptionalLong output, long begun, long ended) {
    return new Op(Kind.READ, 0, Answer.UNKNOWN, output, begun, ended);
  }

  @Test
  void concurrentOperationsMayTakeEffectInEitherOrder() {
    List<Op> history =
        List.of(
            op(Kind.UPSERT, 1, Answer.UNKNOWN, 1, 4),
            op(Kind.UPSERT, 2, Answer.UNKNOWN, 2, 3),
            read(OptionalLong.of(1), 5, 6));
    assertThat(Linearizability.isPossible(history)).isTrue();
  }

  @Test
  void aReadAfterAnUpsertThatHadTheLastWordIsNotStale() {
    List<Op> history =
        List.of(
            op(Kind.UPSERT, 1, Answer.UNKNOWN, 1, 2),
            op(Kind.UPSERT, 2, Answer.UNKNOWN, 3, 4),
            read(OptionalLong.of(1), 5, 6));
    assertThat(Linearizability.isPossible(history)).isFalse();
  }

  @Test
  void elementsOfABatchTakeEffectInTheirOrder() {
    for (int last : new int[] {1, 2}) {
      List<Op> history =
          List.of(
              op(Kind.UPSERT, 1, Answer.UNKNOWN, 1, 2),
              op(Kind.UPSERT, 2, Answer.UNKNOWN, 1, 2),
              read(OptionalLong.of(last), 3, 4));
      assertThat(Linearizability.isPossible(history)).as("last " + last).isEqualTo(last == 2);
    }
  }

  @Test
  void twoReadsDoNotSeeTwoOrders() {
    List<Op> history =
        List.of(
            op(Kind.UPSERT, 1, Answer.UNKNOWN, 1, 10),
            op(Kind.UPSERT, 2, Answer.UNKNOWN, 2, 11),
            read(OptionalLong.of(1), 3, 4),
            read(OptionalLong.of(2), 5, 6),
            read(OptionalLong.of(1), 7, 8));
    assertThat(Linearizability.isPossible(history)).isFalse();
  }

  @Test
  void onlyOneOfTwoDeletesFindsTheValue() {
    List<Op> history =
        List.of(
            op(Kind.UPSERT, 1, Answer.ABSENT, 1, 2),
            op(Kind.DELETE, 0, Answer.PRESENT, 3, 6),
            op(Kind.DELETE, 0, Answer.PRESENT, 4, 5));
    assertThat(Linearizability.isPossible(history)).isFalse();
  }

  @Test
  void anAnswerOfALostUpdateIsNotPossible() {
    List<Op> history =
        List.of(
            op(Kind.RMW, 5, Answer.ABSENT, 1, 2),
            op(Kind.RMW, 7, Answer.PRESENT, 3, 4),
            read(OptionalLong.of(5), 5, 6));
    assertThat(Linearizability.isPossible(history)).isFalse();
  }

  @Test
  void aMapIsARegister() {
    Map<Long, Long> map = new ConcurrentHashMap<>();
    Histories histories = new Histories(3, 2000, new SplittableRandom(1));
    assertThat(histories.run(() -> new MapRegister(map))).isEmpty();
  }

  /**
   * If two threads are in the window at the same time, they leave it at the same time; a thread
   * that remains alone gives up.
   */
  private static final class Window {
    private static final int PATIENCE = 1000;
    private final AtomicInteger inside = new AtomicInteger();

    void meet() {
      inside.incrementAndGet();
      for (int i = 0; i < PATIENCE && inside.get() < 2; i++) {
        Thread.yield();
      }
      inside.decrementAndGet();
    }
  }

  /** The control: reads, meets another thread, and writes. */
  @Test
  void anRmwInTwoStepsIsCaught() {
    Map<Long, Long> map = new ConcurrentHashMap<>();
    Window window = new Window();
    Histories histories = new Histories(3, ROUNDS, new SplittableRandom(2));
    Register broken =
        new MapRegister(map) {
          @Override
          public Answer rmw(long key, long input) {
            Long old = map.get(key);
            window.meet();
            map.put(key, old == null ? input : Op.mix(old, input));
            return old == null ? Answer.ABSENT : Answer.PRESENT;
          }
        };
    assertThat(histories.run(() -> broken)).isNotEmpty();
  }

  /** The control: a delete that reads and then removes, so two deletes find the same value. */
  @Test
  void aDeleteInTwoStepsIsCaught() {
    Map<Long, Long> map = new ConcurrentHashMap<>();
    Window window = new Window();
    Histories histories = new Histories(3, ROUNDS, new SplittableRandom(3));
    Register broken =
        new MapRegister(map) {
          @Override
          public Answer delete(long key) {
            boolean isThere = map.containsKey(key);
            window.meet();
            map.remove(key);
            return isThere ? Answer.PRESENT : Answer.ABSENT;
          }
        };
    assertThat(histories.run(() -> broken)).isNotEmpty();
  }

  /** Correct because the map's own methods are atomic. */
  private static class MapRegister implements Register {
    private final Map<Long, Long> map;

    MapRegister(Map<Long, Long> map) {
      this.map = map;
    }

    @Override
    public OptionalLong read(long key) {
      Long value = map.get(key);
      return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    @Override
    public Answer upsert(long key, long value) {
      return map.put(key, value) == null ? Answer.ABSENT : Answer.PRESENT;
    }

    @Override
    public Answer rmw(long key, long input) {
      boolean[] isNew = new boolean[1];
      map.compute(
          key,
          (any, old) -> {
            isNew[0] = old == null;
            return old == null ? input : Op.mix(old, input);
          });
      return isNew[0] ? Answer.ABSENT : Answer.PRESENT;
    }

    @Override
    public Answer delete(long key) {
      return map.remove(key) == null ? Answer.ABSENT : Answer.PRESENT;
    }
  }
}

package io.fasterkv.lin;

import io.fasterkv.lin.Op.Answer;
import io.fasterkv.lin.Op.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Lets threads operate on one new key at the same time, round after round, and checks whether a
 * register could have answered like that. Stops at the first impossible history.
 *
 * <p>A batch contains the key several times, between keys that no other thread uses. Each element
 * is an operation of its own that took effect at some time during the batch, in the order of the
 * batch.
 */
public final class Histories {
  private static final int OPERATIONS = 5;
  private static final int BATCHES = 3;

  /** The key's positions in a batch; the other elements are neighbouring keys. */
  private static final List<Integer> PLACES = List.of(0, 4);

  private static final int BATCH = 6;
  private static final long PATIENCE_SECONDS = 120;

  private final boolean withBatches;
  private final int threads;
  private final int rounds;
  private final SplittableRandom random;
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger atTheStart = new AtomicInteger();
  private final List<List<Op>> ofThreads = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final CyclicBarrier barrier;
  private volatile List<Op> impossible;
  private long round;

  /** Creates histories of single operations. */
  public Histories(int threads, int rounds, SplittableRandom random) {
    this(threads, rounds, false, random);
  }

  /**
   * @param withBatches whether some operations are in batches
   */
  public Histories(int threads, int rounds, boolean withBatches, SplittableRandom random) {
    this.withBatches = withBatches;
    this.threads = threads;
    this.rounds = rounds;
    this.random = random;
    barrier = new CyclicBarrier(threads, this::endRound);
  }

  /** Runs all rounds; returns the first impossible history, or an empty one if there is none. */
  public List<Op> run(Supplier<Register> registers) {
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      ofThreads.add(new ArrayList<>());
      int number = i;
      SplittableRandom dice = random.split();
      running.add(Thread.ofPlatform().daemon().start(() -> work(registers, number, dice)));
    }
    try {
      for (Thread thread : running) {
        thread.join();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (failure.get() != null) {
      throw new AssertionError("a thread has failed", failure.get());
    }
    return impossible == null ? List.of() : impossible;
  }

  private void work(Supplier<Register> registers, int number, SplittableRandom dice) {
    try (Register register = registers.get()) {
      for (long key = 0; key < rounds && impossible == null && failure.get() == null; key++) {
        startTogether(key);
        List<Op> history = ofThreads.get(number);
        long input = (number + 1L) * 100;
        for (int i = 0; i < (withBatches ? BATCHES : OPERATIONS); i++, input += BATCH) {
          int side = dice.nextInt(withBatches ? 12 : 6);
          if (side < 6) {
            history.add(operation(register, key, input, side));
          } else {
            batch(register, key, input, side, history);
          }
        }
        barrier.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } catch (BrokenBarrierException | TimeoutException e) {
      failure.compareAndSet(null, e);
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      barrier.reset();
    }
  }

  /** Starts the threads closer together than a barrier that parks them would. */
  private void startTogether(long key) {
    atTheStart.incrementAndGet();
    while (atTheStart.get() < (key + 1) * threads && failure.get() == null) {
      Thread.yield();
    }
  }

  private Op operation(Register register, long key, long input, int dice) {
    long begun = clock.incrementAndGet();
    OptionalLong output = OptionalLong.empty();
    Kind kind;
    Answer answer;
    switch (dice) {
      case 0, 1 -> {
        kind = Kind.READ;
        output = register.read(key);
        answer = Answer.UNKNOWN;
      }
      case 2 -> {
        kind = Kind.UPSERT;
        answer = register.upsert(key, input);
      }
      case 3, 4 -> {
        kind = Kind.RMW;
        answer = register.rmw(key, input);
      }
      default -> {
        kind = Kind.DELETE;
        answer = register.delete(key);
      }
    }
    return new Op(kind, input, answer, output, begun, clock.incrementAndGet());
  }

  private void batch(Register register, long key, long input, int dice, List<Op> history) {
    long[] keys = new long[BATCH];
    long[] inputs = new long[BATCH];
    for (int i = 0; i < BATCH; i++) {
      keys[i] = PLACES.contains(i) ? key : -1 - i;
      inputs[i] = input + i;
    }
    OptionalLong[] found = new OptionalLong[BATCH];
    Arrays.fill(found, OptionalLong.empty());
    Answer[] answers = new Answer[BATCH];
    Arrays.fill(answers, Answer.UNKNOWN);
    Kind kind = dice < 8 ? Kind.READ : dice < 10 ? Kind.UPSERT : Kind.RMW;
    long begun = clock.incrementAndGet();
    switch (kind) {
      case READ -> register.read(keys, found);
      case UPSERT -> register.upsert(keys, inputs, answers);
      default -> register.rmw(keys, inputs, answers);
    }
    long ended = clock.incrementAndGet();
    for (int i : PLACES) {
      history.add(new Op(kind, inputs[i], answers[i], found[i], begun, ended));
    }
  }

  /** Runs on the last thread of a round while the others wait. */
  private void endRound() {
    List<Op> history = new ArrayList<>();
    ofThreads.forEach(history::addAll);
    ofThreads.forEach(List::clear);
    if (!Linearizability.isPossible(history)) {
      impossible = history;
    }
    round++;
  }

  /** The number of rounds completed. */
  public long rounds() {
    return round;
  }
}

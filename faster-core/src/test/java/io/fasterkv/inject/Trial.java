package io.fasterkv.inject;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.sim.SimulatedDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** One run of the workload: the results, and a watch over the calls. */
final class Trial {
  private static final int MOST_FAULTS = 5;

  private final Order order;
  private final Injector injector;
  private final List<Actor> actors = new CopyOnWriteArrayList<>();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicInteger succeeded = new AtomicInteger();
  private final AtomicInteger recoveries = new AtomicInteger();
  private volatile FasterStore store;

  Trial(Order order) {
    this.order = order;
    injector = new Injector(order);
  }

  Report run() {
    boolean hangs = false;
    Leaks leaks = new Leaks();
    Life life = new Life(this, order, new SimulatedDisk(), leaks);
    Hooks.follow(injector);
    try {
      Actor director = begin("director", life::run);
      while (!hangs && !director.join()) {
        hangs = actors.stream().anyMatch(this::hangs);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      Hooks.follow(Hooks.Plan.NONE);
    }
    return new Report(
        injector.visits(),
        injector.thrown(),
        failed.get(),
        succeeded.get(),
        recoveries.get(),
        List.copyOf(faults),
        hangs);
  }

  private boolean hangs(Actor actor) {
    String call = actor.hangs(order.boundMillis());
    if (call == null) {
      return false;
    }
    // From here on, this thread inspects the store.
    endInjection();
    fault("does not end: " + call + "; " + marks() + "\n" + actor.stack() + Stacks.ofStore());
    return true;
  }

  private String marks() {
    try {
      return store == null
          ? "no store is open"
          : Insides.marks(store) + ", holders=" + Insides.engine(store).epochs().holders();
    } catch (RuntimeException e) {
      return "the marks cannot be read: " + e;
    }
  }

  /** Starts a thread of the workload. */
  Actor begin(String name, Actor.Work work) {
    Actor actor = new Actor(this, name, work);
    actors.add(actor);
    actor.start();
    return actor;
  }

  /** Stops the injection: no more Errors are thrown. */
  void endInjection() {
    Hooks.follow(Hooks.Plan.NONE);
  }

  /** Sets the store that messages describe. */
  void watch(FasterStore watched) {
    store = watched;
  }

  boolean hasThrown() {
    return injector.hasThrown();
  }

  void failed() {
    failed.incrementAndGet();
  }

  void succeeded() {
    succeeded.incrementAndGet();
  }

  void recovered() {
    recoveries.incrementAndGet();
  }

  void fault(String what) {
    if (faults.size() < MOST_FAULTS) {
      faults.add(what + (hasThrown() ? "\nthrown at " + injector.firstStack() : ""));
    }
  }

  List<String> faults() {
    return new ArrayList<>(faults);
  }
}

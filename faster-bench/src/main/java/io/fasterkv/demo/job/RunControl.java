package io.fasterkv.demo.job;

import io.fasterkv.demo.text.InputPlan;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * State shared by the demo and its job: both run in one JVM, and the job's functions find this by
 * name.
 *
 * <p>Safe for use by several threads.
 */
public final class RunControl implements AutoCloseable {
  private static final Map<String, RunControl> RUNS = new ConcurrentHashMap<>();

  private final String runId;
  private final Progress progress;
  private final Gate gate;
  private final PlannedFailure failure;
  private final Results results = new Results();
  private final StoreGauges gauges = new StoreGauges();

  /**
   * @param runId any name that no other run of this JVM has
   */
  public RunControl(String runId, InputPlan plan) {
    this.runId = runId;
    this.progress = new Progress(plan.ranges().size());
    // The word that fails the task is the one after half of the input.
    this.gate = new Gate(plan.words() / 2);
    this.failure = new PlannedFailure(plan.words() / 2);
    if (RUNS.putIfAbsent(runId, this) != null) {
      throw new IllegalStateException("a run of this name is under way: runId=" + runId);
    }
  }

  static RunControl of(String runId) {
    RunControl control = RUNS.get(runId);
    if (control == null) {
      throw new IllegalStateException("no such run: runId=" + runId);
    }
    return control;
  }

  public Progress progress() {
    return progress;
  }

  public Gate gate() {
    return gate;
  }

  public PlannedFailure failure() {
    return failure;
  }

  public Results results() {
    return results;
  }

  public StoreGauges gauges() {
    return gauges;
  }

  @Override
  public void close() {
    RUNS.remove(runId);
  }
}

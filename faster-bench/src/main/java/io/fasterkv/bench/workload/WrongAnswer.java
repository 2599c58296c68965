package io.fasterkv.bench.workload;

/** A store has lost, invented or mixed up data. */
public final class WrongAnswer extends RuntimeException {
  public WrongAnswer(String message) {
    super(message);
  }
}

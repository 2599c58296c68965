package io.fasterkv.bench.flink;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** A set of operators that share a slot: how often each is used, in the order of opening. */
enum SlotRow {
  /** Thirty operators with ten times the slot's memory; the most used one opens first. */
  zipfHotFirst(10) {
    @Override
    List<Operator> operators() {
      return zipf();
    }
  },
  /** The same; the most used one opens last. */
  zipfHotLast(10) {
    @Override
    List<Operator> operators() {
      return zipf().reversed();
    }
  },
  /** Five operators; the third one has nine tenths of the accesses and nearly all state. */
  oneOfFive(4) {
    @Override
    List<Operator> operators() {
      Operator cold = new Operator(0.025, 0.001);
      return List.of(cold, cold, new Operator(0.9, 0.996), cold, cold);
    }
  },
  /** That operator alone. */
  alone(4) {
    @Override
    List<Operator> operators() {
      return List.of(new Operator(1, 1));
    }
  };

  private static final int MANY = 30;

  private final int timesMemory;

  SlotRow(int timesMemory) {
    this.timesMemory = timesMemory;
  }

  /**
   * One operator.
   *
   * @param accesses its part of all accesses
   * @param state its part of all state
   */
  record Operator(double accesses, double state) {}

  abstract List<Operator> operators();

  /** The state of all operators as a multiple of the slot's memory. */
  int timesMemory() {
    return timesMemory;
  }

  private static List<Operator> zipf() {
    double sum = IntStream.rangeClosed(1, MANY).mapToDouble(rank -> 1.0 / rank).sum();
    return Collections.unmodifiableList(
        IntStream.rangeClosed(1, MANY)
            .mapToObj(rank -> new Operator(1 / (rank * sum), 1.0 / MANY))
            .toList());
  }
}

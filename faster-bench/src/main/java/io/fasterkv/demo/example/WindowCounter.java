package io.fasterkv.demo.example;

import org.apache.flink.api.common.functions.AggregateFunction;

/** Counts the words of one window. */
final class WindowCounter implements AggregateFunction<Word, Long, Long> {
  private static final long serialVersionUID = 1;

  @Override
  public Long createAccumulator() {
    return 0L;
  }

  @Override
  public Long add(Word word, Long count) {
    return count + 1;
  }

  @Override
  public Long getResult(Long count) {
    return count;
  }

  @Override
  public Long merge(Long a, Long b) {
    return a + b;
  }
}

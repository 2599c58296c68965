package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.events.EventClock;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.ScalarFunction;

/**
 * Orders bids by price, and those of the same price by time, the earlier one higher, as one number.
 * Query 9 needs it: for a top-1 sorted by two columns, Flink 2.3 plans an append-only result, but
 * updates it without retracting the previous row; such a result cannot be compared.
 */
public final class Precedence extends ScalarFunction {
  private static final long serialVersionUID = 1;

  /** For 99 days of event time; prices need 27 bits more. */
  private static final int TIME_BITS = 33;

  /** Created by Flink. */
  public Precedence() {}

  /** Called by generated code. */
  public long eval(
      Long price,
      @DataTypeHint(value = "TIMESTAMP(3)", bridgedTo = TimestampData.class) TimestampData time) {
    long millis = time.getMillisecond() - EventClock.BEGIN_MILLIS;
    return ((price + 1) << TIME_BITS) - 1 - millis;
  }
}

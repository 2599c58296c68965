package io.fasterkv.cluster.evolve;

import org.apache.avro.reflect.AvroDefault;
import org.apache.avro.reflect.Nullable;

/** Totals that have lost a field, have two others, and a wider one. */
public class Totals {
  @Nullable
  @AvroDefault("null")
  public String note;

  public long count;

  @AvroDefault("0")
  public long since;

  public long sum;

  public void add(long number) {
    count++;
    since++;
    sum += number;
  }

  public long numbers() {
    return count;
  }

  public long total() {
    return sum;
  }

  public boolean isWhole() {
    return note == null && since < count;
  }
}

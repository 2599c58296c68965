package io.fasterkv.cluster.evolve;

/** State that Avro serializes by its fields. */
public class Totals {
  public int count;
  public String legacy = "first";
  public long sum;

  /** Counts a number. */
  public void add(long number) {
    count++;
    sum += number;
  }

  /** How many numbers were counted. */
  public long numbers() {
    return count;
  }

  /** Their sum. */
  public long total() {
    return sum;
  }

  /** Whether the fields that only this version has are right. */
  public boolean isWhole() {
    return legacy.equals("first");
  }
}

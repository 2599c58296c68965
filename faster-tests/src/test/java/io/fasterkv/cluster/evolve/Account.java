package io.fasterkv.cluster.evolve;

/** State that Flink serializes by its fields. */
public class Account {
  public int count;
  public String legacy = "first";
  public long sum;

  /** Counts a number. */
  public void add(long number) {
    count++;
    sum += number;
  }

  /** Number of numbers that were counted. */
  public long numbers() {
    return count;
  }

  /** Their sum. */
  public long total() {
    return sum;
  }

  /** Whether the fields that only this version has are correct. */
  public boolean isWhole() {
    return legacy.equals("first");
  }
}

package io.fasterkv.cluster.evolve;

/** An account with a field of another type: Flink cannot read the state. */
public class Account {
  public int count;
  public String sum = "";

  public void add(long number) {
    count++;
  }

  public long numbers() {
    return count;
  }

  public long total() {
    return 0;
  }

  public boolean isWhole() {
    return true;
  }
}

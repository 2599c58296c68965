package io.fasterkv.cluster.evolve;

/** An account that has lost a field and has two others. */
public class Account {
  public String note;
  public int count;
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

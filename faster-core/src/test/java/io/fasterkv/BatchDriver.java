package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.SessionMode;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;

/** Runs batches of a session on variable-length keys on both store and model. */
final class BatchDriver {
  private static final int MAX_BATCH = 90;

  /** Operations that read from disk concurrently need scratch memory concurrently. */
  private static final int MAX_PENDING = 2;

  private static final int MAX_VALUE = 900;

  private final Session<byte[], BytesFunctions.Result, Object> session;
  private final boolean isBlocking;
  private final SplittableRandom random;
  private final Map<Integer, byte[]> model;
  private final String title;
  private final int[] numbers;
  private final ByteSpan[] keys;
  private final Status[] statuses;

  BatchDriver(
      Session<byte[], BytesFunctions.Result, Object> session,
      SessionMode mode,
      SplittableRandom random,
      Map<Integer, byte[]> model,
      long seed) {
    this.session = session;
    isBlocking = mode == SessionMode.BLOCKING;
    this.random = random;
    this.model = model;
    title = "batch, seed " + seed + ", " + mode + ", key ";
    numbers = new int[random.nextInt(1 + (isBlocking ? MAX_BATCH : MAX_PENDING))];
    keys = new ByteSpan[numbers.length];
    statuses = new Status[numbers.length];
  }

  void batch() {
    int range = random.nextInt(4) == 0 ? 20 : ModelDriver.KEYS;
    for (int i = 0; i < numbers.length; i++) {
      set(i, random.nextInt(range));
    }
    if (random.nextInt(4) == 0) {
      session.prefetch(keys, numbers.length);
    }
    switch (random.nextInt(7)) {
      case 0, 1 -> read();
      case 2, 3 -> upsert();
      case 4 -> delete();
      default -> rmw();
    }
  }

  private void set(int i, int number) {
    numbers[i] = number;
    keys[i] = ModelDriver.key(number);
  }

  private void read() {
    BytesFunctions.Result[] results = new BytesFunctions.Result[numbers.length];
    Arrays.setAll(results, i -> new BytesFunctions.Result());
    int pending = session.read(keys, null, results, statuses, numbers.length, null);
    assertPending(pending);
    for (int i = 0; i < numbers.length; i++) {
      Status status = statuses[i] == Status.PENDING ? results[i].completed : statuses[i];
      byte[] expected = model.get(numbers[i]);
      assertThat(status)
          .as(title + numbers[i])
          .isEqualTo(expected == null ? Status.NOT_FOUND : Status.FOUND);
      if (expected != null) {
        assertThat(results[i].value).as(title + numbers[i]).isEqualTo(expected);
      }
    }
  }

  private void upsert() {
    ByteSpan[] values = new ByteSpan[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      values[i] = ByteSpan.of(bytes(40));
    }
    session.upsert(keys, values, statuses, numbers.length, null);
    for (int i = 0; i < numbers.length; i++) {
      if (model.put(numbers[i], values[i].toArray()) != null) {
        assertThat(statuses[i]).as(title + numbers[i]).isNotEqualTo(Status.CREATED);
      }
    }
  }

  private void delete() {
    session.delete(keys, statuses, numbers.length, null);
    for (int i = 0; i < numbers.length; i++) {
      if (model.remove(numbers[i]) != null) {
        assertThat(statuses[i]).as(title + numbers[i]).isEqualTo(Status.FOUND);
      }
    }
  }

  /**
   * Updates; pending ones of one key may end in any order, so a batch then has one update for each
   * key.
   */
  private void rmw() {
    byte[][] inputs = new byte[numbers.length][];
    int first = random.nextInt(ModelDriver.KEYS);
    for (int i = 0; i < numbers.length; i++) {
      if (!isBlocking) {
        set(i, (first + i) % ModelDriver.KEYS);
      }
      boolean isLong = model.getOrDefault(numbers[i], new byte[0]).length > MAX_VALUE;
      inputs[i] = bytes(isLong ? 1 : 6);
    }
    int pending = session.rmw(keys, inputs, statuses, numbers.length, null);
    assertPending(pending);
    for (int i = 0; i < numbers.length; i++) {
      byte[] old = model.get(numbers[i]);
      if (statuses[i] != Status.PENDING) {
        if (statuses[i] != Status.DELTA_APPENDED) {
          assertThat(statuses[i] == Status.CREATED).as(title + numbers[i]).isEqualTo(old == null);
        }
      }
      model.put(numbers[i], MixedFunctions.updated(old == null ? new byte[0] : old, inputs[i]));
    }
  }

  private void assertPending(int pending) {
    long expected = Arrays.stream(statuses).filter(status -> status == Status.PENDING).count();
    assertThat((long) pending).as(title + "any").isEqualTo(expected);
    assertThat(session.completePending(true)).isZero();
  }

  private byte[] bytes(int bound) {
    byte[] bytes = new byte[random.nextInt(bound)];
    Arrays.fill(bytes, (byte) random.nextInt());
    return bytes;
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.Versions;
import io.fasterkv.api.session.SessionMode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Runs operations on both store and model. */
final class ModelDriver implements AutoCloseable {
  static final int KEYS = 400;
  private final FasterStore store;
  private final Session<byte[], BytesFunctions.Result, Object> session;
  private final SplittableRandom random;
  private final Map<Integer, byte[]> model;
  private final long seed;
  private final SessionMode mode;

  /** One in this many upserts writes a value larger than a page; 0 for none. */
  private int largeOneIn;

  ModelDriver(
      FasterStore store,
      SessionMode mode,
      SplittableRandom random,
      Map<Integer, byte[]> model,
      long seed) {
    this.store = store;
    this.session = store.newSession().mode(mode).spans(new MixedFunctions());
    this.random = random;
    this.model = model;
    this.seed = seed;
    this.mode = mode;
  }

  /** Makes one upsert in {@code oneIn} write a value of up to six pages of 4 KiB. */
  ModelDriver withLargeValues(int oneIn) {
    largeOneIn = oneIn;
    return this;
  }

  void someOperations(int count) {
    for (int i = 0; i < count; i++) {
      operation();
    }
  }

  void operation() {
    if (random.nextInt(40) == 0) {
      new BatchDriver(session, mode, random, model, seed).batch();
      return;
    }
    int key = random.nextInt(KEYS);
    ByteSpan keyBytes = key(key);
    switch (random.nextInt(8)) {
      case 0, 1 -> checkRead(key);
      case 2, 3 -> {
        byte[] value = value();
        Status status = session.upsert(keyBytes, ByteSpan.of(value), null);
        assertThat(status).as(at(key)).isNotIn(Status.PENDING, Status.NOT_FOUND);
        if (model.containsKey(key)) {
          assertThat(status).as(at(key)).isNotEqualTo(Status.CREATED);
        }
        model.put(key, value);
      }
      case 4, 5, 6 -> {
        byte[] input = new byte[random.nextInt(9)];
        Arrays.fill(input, (byte) random.nextInt());
        byte[] old = model.getOrDefault(key, new byte[0]);
        if (old.length > 900) {
          return;
        }
        Status status = session.rmw(keyBytes, input, null);
        if (status == Status.PENDING) {
          assertThat(session.completePending(true)).isZero();
        } else {
          checkUpdated(key, input, status);
        }
        model.put(key, MixedFunctions.updated(old, input));
      }
      default -> {
        Status status = session.delete(keyBytes, null);
        if (model.remove(key) != null) {
          assertThat(status).as(at(key)).isEqualTo(Status.FOUND);
        }
      }
    }
  }

  private void checkUpdated(int key, byte[] input, Status status) {
    if (status == Status.DELTA_APPENDED) {
      assertThat(MixedFunctions.isPrefix(input)).as(at(key)).isFalse();
      assertThat(store.config().merge()).as(at(key)).isNotNull();
    } else {
      assertThat(status == Status.CREATED)
          .as(at(key) + " " + status)
          .isEqualTo(!model.containsKey(key));
    }
  }

  void upsertAll() {
    for (int key = 0; key < KEYS; key++) {
      byte[] value = value();
      session.upsert(key(key), ByteSpan.of(value), null);
      model.put(key, value);
    }
  }

  void checkAll() {
    for (int key = 0; key < KEYS; key++) {
      checkRead(key);
    }
  }

  void checkRead(int key) {
    BytesFunctions.Result result = new BytesFunctions.Result();
    Status status = session.read(key(key), null, result, null);
    if (status == Status.PENDING) {
      session.completePending(true);
      status = result.completed;
    }
    byte[] expected = model.get(key);
    assertThat(status).as(at(key)).isEqualTo(expected == null ? Status.NOT_FOUND : Status.FOUND);
    if (expected != null) {
      assertThat(result.value).as(at(key)).isEqualTo(expected);
    }
  }

  /** A cut shows the state at the time it was made, whatever happens later. */
  void checkCut() {
    Map<Integer, byte[]> expected = new HashMap<>(model);
    Map<Integer, byte[]> seen = new HashMap<>();
    try (LogCut cut = store.log().cut()) {
      someOperations(random.nextInt(200));
      try (LogScan scan = cut.scan()) {
        while (scan.next()) {
          int key = ByteBuffer.wrap(scan.key().toArray()).getInt();
          if (scan.isTombstone()) {
            seen.remove(key);
          } else {
            byte[] older = scan.isDelta() ? seen.getOrDefault(key, new byte[0]) : new byte[0];
            byte[] newer = scan.value().toArray();
            byte[] value = Arrays.copyOf(older, older.length + newer.length);
            System.arraycopy(newer, 0, value, older.length, newer.length);
            seen.put(key, value);
          }
        }
      }
    }
    assertThat(seen.keySet()).as("seed " + seed).isEqualTo(expected.keySet());
    seen.forEach((key, value) -> assertThat(value).as(at(key)).isEqualTo(expected.get(key)));
  }

  /** A live scan of everything shows the map, each key once. */
  void checkLive() {
    Map<Integer, byte[]> seen = new HashMap<>();
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        int key = ByteBuffer.wrap(scan.key().toArray()).getInt();
        assertThat(scan.isTombstone()).as(at(key)).isFalse();
        assertThat(seen.put(key, scan.value().toArray())).as(at(key)).isNull();
      }
    }
    assertThat(seen.keySet()).as("seed " + seed).isEqualTo(model.keySet());
    seen.forEach((key, value) -> assertThat(value).as(at(key)).isEqualTo(model.get(key)));
  }

  /**
   * Drops everything below some address; the model drops the keys whose newest record was below it.
   */
  void truncate() {
    Map<Integer, Long> newest = new HashMap<>();
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        newest.put(ByteBuffer.wrap(scan.key().toArray()).getInt(), scan.lowestAddress());
      }
    }
    long begin = store.log().beginAddress();
    long tail = store.log().tailAddress();
    long part = random.nextInt(3) == 0 ? tail - begin : (tail - begin) / 4;
    long address = begin + random.nextLong(part + 1);
    store.log().truncate(address);
    assertThat(store.log().beginAddress()).as("seed " + seed).isGreaterThanOrEqualTo(address);
    newest.forEach((key, at) -> {
      if (at < address) {
        model.remove(key);
      }
    });
  }

  @Override
  public void close() {
    session.close();
  }

  private byte[] value() {
    if (largeOneIn > 0 && random.nextInt(largeOneIn) == 0) {
      byte[] large = new byte[3500 + random.nextInt(20_000)];
      random.nextBytes(large);
      return large;
    }
    byte[] value = new byte[random.nextInt(10) == 0 ? random.nextInt(1500) : random.nextInt(40)];
    Arrays.fill(value, (byte) random.nextInt());
    return value;
  }

  /** Keys of 4 to 30 bytes, which start with the number. */
  static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(4 + key % 27).putInt(key).array());
  }

  private String at(int key) {
    return "seed " + seed + ", key " + key;
  }
}

package io.fasterkv;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.Versions;
import io.fasterkv.api.session.SessionMode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A store of mergeable values and a plain map beside it, for either kind of record. */
abstract class MergeModel<V> implements AutoCloseable {
  final Map<Integer, V> model;

  /** Number of updates that did not read the value that they update. */
  private int appended;

  private MergeModel(Map<Integer, V> model) {
    this.model = model;
  }

  abstract void upsert(int key, int input);

  abstract void rmw(int key, int input);

  abstract void delete(int key);

  abstract void check(int key, String when);

  abstract MergeModel<V> reopened(FasterStore store, SessionMode mode, Map<Integer, V> committed);

  @Override
  public abstract void close();

  /** Adds a scan's record to the records of its key seen before. */
  abstract void seen(Map<Integer, V> seen, LogScan scan);

  int appended() {
    return appended;
  }

  final void count(Status status) {
    appended += status == Status.DELTA_APPENDED ? 1 : 0;
  }

  Map<Integer, V> copy() {
    return new HashMap<>(model);
  }

  /** A cut shows the state at the time it was made. */
  void checkCut(FasterStore store, String when) {
    Map<Integer, V> seen = new HashMap<>();
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        seen(seen, scan);
      }
    }
    assertThat(seen).as(when).isEqualTo(model);
    Map<Integer, V> live = new HashMap<>();
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        assertThat(scan.isDelta()).as(when).isFalse();
        seen(live, scan);
      }
    }
    assertThat(live).as(when).isEqualTo(model);
  }

  /**
   * Opens the model of an empty store.
   *
   * @param isLarge whether values, and the inputs of updates, may be larger than a page of 4 KiB
   */
  static MergeModel<?> open(FasterStore store, SessionMode mode, boolean isLarge) {
    return switch (store.config().recordKind()) {
      case LONGS -> new Longs(store, mode, new HashMap<>());
      case SPANS -> new Spans(store, mode, new HashMap<>(), isLarge);
    };
  }

  /** Values that remember the order of their updates in 8 bytes. */
  static final class Longs extends MergeModel<Long> {
    private final LongSession<ChainHash.Result> session;

    Longs(FasterStore store, SessionMode mode, Map<Integer, Long> model) {
      super(model);
      session = store.newSession().mode(mode).longs(new ChainHash());
    }

    @Override
    void upsert(int key, int input) {
      session.upsert(key, ChainHash.of(input), null);
      model.put(key, ChainHash.of(input));
    }

    @Override
    void rmw(int key, int input) {
      count(session.rmw(key, input, null));
      session.completePending(true);
      model.merge(key, ChainHash.of(input), ChainHash::join);
    }

    @Override
    void delete(int key) {
      session.delete(key, null);
      model.remove(key);
    }

    @Override
    void check(int key, String when) {
      ChainHash.Result result = new ChainHash.Result();
      Status status = session.read(key, result);
      long value = session.value();
      if (status == Status.PENDING) {
        session.completePending(true);
        status = result.status;
        value = result.value;
      }
      assertThat(status == Status.FOUND ? value : null).as(when).isEqualTo(model.get(key));
    }

    @Override
    MergeModel<Long> reopened(FasterStore store, SessionMode mode, Map<Integer, Long> committed) {
      return new Longs(store, mode, committed);
    }

    @Override
    void seen(Map<Integer, Long> seen, LogScan scan) {
      int key = (int) scan.key().getLong(0);
      if (scan.isTombstone()) {
        seen.remove(key);
      } else if (scan.isDelta()) {
        seen.merge(key, scan.value().getLong(0), ChainHash::join);
      } else {
        seen.put(key, scan.value().getLong(0));
      }
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** Values that are the sequence of their inputs. */
  static final class Spans extends MergeModel<String> {
    private static final int MAX_BYTES = 1200;
    private static final int MAX_LARGE_BYTES = 50_000;
    private final Session<byte[], BytesFunctions.Result, Object> session;
    private final boolean isLarge;

    Spans(FasterStore store, SessionMode mode, Map<Integer, String> model, boolean isLarge) {
      super(model);
      this.isLarge = isLarge;
      session = store.newSession().mode(mode).spans(new MixedFunctions());
    }

    private byte[] bytes(int input) {
      byte[] bytes = new byte[isLarge ? largeLength(input) : Math.floorMod(input, 7)];
      char first = merges(input) ? 'a' : 'A';
      Arrays.fill(bytes, (byte) (first + Math.floorMod(input, 26)));
      return bytes;
    }

    private static boolean merges(int input) {
      return Math.floorMod(input, 16) == 3 || Math.floorMod(input / 16, 5) > 0;
    }

    /** How often each letter occurs, in order. */
    private static String runs(String value) {
      StringBuilder runs = new StringBuilder();
      int from = 0;
      for (int at = 1; value != null && at <= value.length(); at++) {
        if (at == value.length() || value.charAt(at) != value.charAt(from)) {
          runs.append(at - from).append(value.charAt(from));
          from = at;
        }
      }
      return value == null ? "nothing" : runs.toString();
    }

    /** Mostly small, about a page, or a few pages. */
    private static int largeLength(int input) {
      return switch (Math.floorMod(input, 16)) {
        case 0 -> Math.floorMod(input / 16, 20_000);
        case 1 -> 3900 + Math.floorMod(input / 16, 200);
        case 2 -> Math.floorMod(input / 16, 3000);
        default -> Math.floorMod(input / 16, 9);
      };
    }

    private static String string(byte[] bytes) {
      return new String(bytes, US_ASCII);
    }

    private static ByteSpan key(int key) {
      return ByteSpan.of(ByteBuffer.allocate(4 + key % 5).putInt(key).array());
    }

    @Override
    void upsert(int key, int input) {
      session.upsert(key(key), ByteSpan.of(bytes(input)), null);
      model.put(key, string(bytes(input)));
    }

    @Override
    void rmw(int key, int input) {
      if (model.getOrDefault(key, "").length() > (isLarge ? MAX_LARGE_BYTES : MAX_BYTES)) {
        upsert(key, input);
        return;
      }
      count(session.rmw(key(key), bytes(input), null));
      session.completePending(true);
      byte[] old = model.getOrDefault(key, "").getBytes(US_ASCII);
      model.put(key, string(MixedFunctions.updated(old, bytes(input))));
    }

    @Override
    void delete(int key) {
      session.delete(key(key), null);
      model.remove(key);
    }

    @Override
    void check(int key, String when) {
      BytesFunctions.Result result = new BytesFunctions.Result();
      Status status = session.read(key(key), null, result, null);
      if (status == Status.PENDING) {
        session.completePending(true);
        status = result.completed;
      }
      String expected = model.get(key);
      String found = status == Status.FOUND ? string(result.value) : null;
      if (!Objects.equals(found, expected)) {
        throw new AssertionError(when + ": " + runs(found) + ", expected " + runs(expected));
      }
    }

    @Override
    MergeModel<String> reopened(
        FasterStore store, SessionMode mode, Map<Integer, String> committed) {
      return new Spans(store, mode, committed, isLarge);
    }

    @Override
    void seen(Map<Integer, String> seen, LogScan scan) {
      int key = ByteBuffer.wrap(scan.key().toArray()).getInt();
      if (scan.isTombstone()) {
        seen.remove(key);
      } else if (scan.isDelta()) {
        seen.merge(key, string(scan.value().toArray()), String::concat);
      } else {
        seen.put(key, string(scan.value().toArray()));
      }
    }

    @Override
    public void close() {
      session.close();
    }
  }
}

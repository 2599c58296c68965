package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.sim.SimulatedDisk;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests truncating the log below, within and above a value larger than a page: all readers see the
 * whole value as long as its first chunk exists, and otherwise none.
 */
class LargeTruncationTest {
  private static final int PAGE_BYTES = 4096;
  private static final int BEFORE = 1;
  private static final int LARGE = 2;
  private static final int AFTER = 3;
  private static final byte[] SMALL_VALUE = bytes(50, 1);
  private static final byte[] LARGE_VALUE = bytes(18_000, 2);
  private static final byte[] OTHER_VALUE = bytes(15_000, 3);

  private SimulatedDisk disk = new SimulatedDisk();

  private StoreConfig config(int pages) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) pages * PAGE_BYTES)
        .scratchBytes(1 << 20)
        .segmentBytes(PAGE_BYTES)
        .indexBytes(4096)
        .build();
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static ByteSpan key(int number) {
    return ByteSpan.of(new byte[] {(byte) number, 0, 0, 0, 0});
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(
      FasterStore store, SessionMode mode) {
    return store.newSession().mode(mode).spans(new BytesFunctions());
  }

  /** The value of a key; nothing if there is none. */
  private static byte[] read(FasterStore store, int number) {
    try (var session = session(store, SessionMode.BLOCKING)) {
      var result = new BytesFunctions.Result();
      Status status = session.read(key(number), null, result, null);
      return status == Status.FOUND ? result.value : new byte[0];
    }
  }

  /** Every address from before the value to after its record; in memory and on disk. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {4, 32})
  void aValueExistsAsLongAsItsFirstChunk(int pages) {
    int dropped = 0;
    int kept = 0;
    for (long step = 0; ; step++) {
      disk = new SimulatedDisk();
      CheckpointToken older;
      boolean isKept;
      try (FasterStore store = FasterStore.open(config(pages));
          var session = session(store, SessionMode.BLOCKING)) {
        session.upsert(key(BEFORE), ByteSpan.of(SMALL_VALUE), null);
        long first = store.log().tailAddress();
        session.upsert(key(LARGE), ByteSpan.of(LARGE_VALUE), null);
        long after = store.log().tailAddress();
        session.upsert(key(AFTER), ByteSpan.of(SMALL_VALUE), null);
        older = store.checkpoints().take();
        long address = first - 100 + 8 * step * 13;
        if (address > after) {
          break;
        }
        isKept = address <= first;
        kept += isKept ? 1 : 0;
        dropped += isKept ? 0 : 1;
        truncateUnderReaders(store, address, isKept);
        assertThat(store.log().beginAddress() <= first).as("address " + address).isEqualTo(isKept);
        checkAll(store, isKept);
        store.checkpoints().take();
      }
      try (FasterStore store = FasterStore.recover(config(pages))) {
        checkAll(store, isKept);
        updateAndCompact(store, isKept);
      }
      // An earlier cut still shows the value.
      try (FasterStore store = FasterStore.recover(config(pages), older)) {
        checkAll(store, true);
        assertThat(read(store, BEFORE)).isEqualTo(SMALL_VALUE);
      }
    }
    assertThat(kept).isPositive();
    assertThat(dropped).isGreaterThan(20);
  }

  /**
   * The value is being read, from a cut, by a pending operation and by a scan, when it is
   * truncated.
   */
  private static void truncateUnderReaders(FasterStore store, long address, boolean isKept) {
    var result = new BytesFunctions.Result();
    try (var pending = session(store, SessionMode.PENDING);
        LogCut cut = store.log().cut();
        KeyHistory history = store.log().history(key(LARGE))) {
      Status status = pending.read(key(LARGE), null, result, null);
      store.log().truncate(address);
      pending.completePending(true);
      if (status == Status.FOUND || result.completed == Status.FOUND) {
        assertWhole(result.value);
      } else {
        assertThat(result.completed).isEqualTo(Status.NOT_FOUND);
        assertThat(isKept).isFalse();
      }
      Map<Integer, byte[]> seen = scanned(cut.scan());
      assertWhole(seen.get(LARGE));
      assertThat(seen).hasSize(3);
      assertThat(history.next()).isTrue();
      assertWhole(history.value().toArray());
    }
  }

  private static void checkAll(FasterStore store, boolean isKept) {
    byte[] expected = isKept ? LARGE_VALUE : new byte[0];
    assertThat(Arrays.equals(read(store, LARGE), expected)).isTrue();
    assertThat(read(store, AFTER)).isEqualTo(SMALL_VALUE);
    Map<Integer, byte[]> all = scanned(store.log().scan(Versions.ALL));
    Map<Integer, byte[]> live = scanned(store.log().scan(Versions.LIVE));
    assertThat(all.containsKey(LARGE)).isEqualTo(isKept);
    assertThat(live.containsKey(LARGE)).isEqualTo(isKept);
    assertThat(all).containsKey(AFTER);
    assertThat(live).containsKey(AFTER);
    if (isKept) {
      assertWhole(all.get(LARGE));
      assertWhole(live.get(LARGE));
    }
    try (KeyHistory history = store.log().history(key(LARGE))) {
      boolean isThere = history.next() && !history.isTombstone();
      assertThat(isThere).isEqualTo(isKept);
      if (isThere) {
        assertWhole(history.value().toArray());
      }
    }
    StoreInvariants.check(store);
  }

  private static void updateAndCompact(FasterStore store, boolean isKept) {
    store.log().compact();
    checkAll(store, isKept);
    try (var session = session(store, SessionMode.PENDING)) {
      session.rmw(key(LARGE), OTHER_VALUE, null);
      session.completePending(true);
    }
    int before = isKept ? LARGE_VALUE.length : 0;
    byte[] updated = read(store, LARGE);
    assertThat(updated).hasSize(before + OTHER_VALUE.length);
    assertThat(Arrays.copyOfRange(updated, before, updated.length)).isEqualTo(OTHER_VALUE);
    store.log().cut().close();
    store.log().compact();
    assertThat(Arrays.equals(read(store, LARGE), updated)).isTrue();
    try (var session = session(store, SessionMode.BLOCKING)) {
      assertThat(session.delete(key(LARGE), null)).isEqualTo(Status.FOUND);
    }
    assertThat(read(store, LARGE)).isEmpty();
  }

  /** The log can be truncated to the address that a scan reports as the start of a value. */
  @Test
  void aScanReportsHowFarTheLogCanBeTruncated() {
    try (FasterStore store = FasterStore.open(config(4));
        var session = session(store, SessionMode.BLOCKING)) {
      session.upsert(key(BEFORE), ByteSpan.of(SMALL_VALUE), null);
      session.upsert(key(LARGE), ByteSpan.of(LARGE_VALUE), null);
      long lowest = 0;
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        while (scan.next()) {
          boolean isLarge = scan.key().toArray()[0] == LARGE;
          lowest = isLarge ? scan.lowestAddress() : lowest;
          assertThat(scan.lowestAddress() < scan.address()).isEqualTo(isLarge);
        }
      }
      store.log().truncate(lowest);
      assertWhole(read(store, LARGE));
      assertThat(read(store, BEFORE)).isEmpty();
      store.log().truncate(lowest + 1);
      assertThat(read(store, LARGE)).isEmpty();
    }
  }

  private static Map<Integer, byte[]> scanned(LogScan open) {
    Map<Integer, byte[]> seen = new HashMap<>();
    try (LogScan scan = open) {
      while (scan.next()) {
        int key = scan.key().toArray()[0];
        if (scan.isTombstone()) {
          seen.remove(key);
        } else {
          seen.put(key, scan.value().toArray());
        }
      }
    }
    return seen;
  }

  private static void assertWhole(byte[] value) {
    assertThat(Arrays.equals(value, LARGE_VALUE)).isTrue();
  }
}

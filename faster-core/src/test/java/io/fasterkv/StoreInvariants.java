package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.index.IndexWalk;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks that index and log of a quiet store fit each other: marks are in order, chains lead down
 * through complete records of their bucket, and the newest record of every key that a scan of the
 * log finds is the one that the index leads to. Only the calling thread may use the store
 * meanwhile.
 */
final class StoreInvariants {
  private static final long DELETED = -1;

  private final Engine engine;
  private final HybridLog log;
  private final RecordLayout layout;
  private final MemorySegment buffer;
  private final MemorySegment keyBuffer;
  private final List<IndexWalk.Entry> entries;
  private final Set<Own> ownEntries = new HashSet<>();

  /** A bucket and a tag that has an entry there. */
  private record Own(long bucket, long tag) {}

  private StoreInvariants(Engine engine, Arena arena) {
    this.engine = engine;
    log = engine.log();
    layout = engine.layout();
    buffer = arena.allocate(log.pageBytes(), Long.BYTES);
    keyBuffer = arena.allocate(log.pageBytes(), Long.BYTES);
    entries = IndexWalk.entries(engine.index().soleTable());
    for (IndexWalk.Entry entry : entries) {
      ownEntries.add(new Own(entry.bucket(), entry.tag()));
    }
  }

  static void check(FasterStore store) {
    Map<ByteBuffer, Long> newest = newestByScan(store);
    try (Arena arena = Arena.ofConfined()) {
      StoreInvariants invariants = new StoreInvariants(Insides.engine(store), arena);
      invariants.checkMarks();
      Map<ByteBuffer, Long> reached = invariants.newestByIndex();
      newest.forEach((key, address) ->
          assertThat(reached.get(key)).as("newest record of " + hex(key)).isEqualTo(address));
      newest.keySet().forEach(reached::remove);
      assertThat(reached.size()).as("deleted keys that the index leads to").isZero();
    }
  }

  /** For each key that is not deleted, the address of its last record in the log. */
  private static Map<ByteBuffer, Long> newestByScan(FasterStore store) {
    Map<ByteBuffer, Long> newest = new HashMap<>();
    try (LogCut cut = store.cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        ByteBuffer key = ByteBuffer.wrap(scan.key().toArray());
        if (scan.isTombstone()) {
          newest.remove(key);
        } else {
          newest.put(key, scan.address());
        }
      }
    }
    return newest;
  }

  private void checkMarks() {
    long readOnly = Math.min(log.inPlaceFrom(), log.tailAddress());
    assertThat(
            List.of(
                log.headAddress(),
                log.flushedAddress(),
                log.safeReadOnlyAddress(),
                readOnly,
                log.tailAddress()))
        .as("head, flushed, safe read-only, read-only, tail")
        .isSorted();
    assertThat(log.beginAddress()).as("begin").isLessThanOrEqualTo(log.tailAddress());
  }

  /** For each key that is not deleted, the address of the first record on its chain. */
  private Map<ByteBuffer, Long> newestByIndex() {
    Map<ByteBuffer, Long> newest = new HashMap<>();
    for (IndexWalk.Entry entry : entries) {
      long above = log.tailAddress();
      long at = entry.address();
      while (at >= log.beginAddress()) {
        assertThat(at).as("a chain leads down, entry " + entry).isLessThan(above);
        readRecord(at);
        long info = RecordLayout.info(buffer, 0);
        ByteBuffer key = keyOf(entry, at);
        if (key != null) {
          newest.putIfAbsent(key, RecordInfo.isTombstone(info) ? DELETED : at);
        }
        above = at;
        at = RecordInfo.previousAddress(info);
      }
    }
    newest.values().removeIf(address -> address == DELETED);
    return newest;
  }

  /** The key of the record in the buffer; null when that key is looked up by another entry. */
  private ByteBuffer keyOf(IndexWalk.Entry entry, long at) {
    int length = layout.keyBytes(buffer, 0);
    MemorySegment.copy(buffer, layout.keyOffset(0), keyBuffer, 0, length);
    KeyBytes key = new KeyBytes();
    key.set(keyBuffer, length);
    long hash = engine.hash(key);
    String place = "record at " + at + " of " + entry;
    assertThat(IndexWalk.bucketOf(engine.index().soleTable(), hash))
        .as(place)
        .isEqualTo(entry.bucket());
    long tag = IndexWalk.tagOf(hash);
    boolean isOwn = tag == entry.tag();
    assertThat(isOwn || entry.sharedSlot() >= 0).as("tag of " + place).isTrue();
    boolean isShared = entry.isSharedBy(hash) && !ownEntries.contains(new Own(entry.bucket(), tag));
    return isOwn || isShared
        ? ByteBuffer.wrap(keyBuffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE))
        : null;
  }

  /** Reads the record at an address, from memory or the device. */
  private void readRecord(long at) {
    read(at, layout.headerBytes());
    long info = RecordLayout.info(buffer, 0);
    assertThat(RecordInfo.isPresent(info)).as("a record at " + at).isTrue();
    assertThat(RecordInfo.isPadding(info)).as("padding at " + at).isFalse();
    assertThat(RecordInfo.isInvalid(info)).as("invalid record at " + at + " in a chain").isFalse();
    long bytes = layout.recordBytes(buffer, 0);
    assertThat(at + bytes).as("end of record at " + at).isLessThanOrEqualTo(log.pageEnd(at));
    read(at, bytes);
    assertThat(layout.isSound(buffer, 0, bytes)).as("sizes of record at " + at).isTrue();
  }

  private void read(long at, long bytes) {
    MemorySegment target = buffer.asSlice(0, bytes);
    if (at >= log.headAddress()) {
      target.copyFrom(log.memory().asSlice(log.offset(at), bytes));
      return;
    }
    try {
      log.device().readNow(at, target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hex(ByteBuffer key) {
    byte[] bytes = new byte[key.remaining()];
    key.get(key.position(), bytes);
    return HexFormat.of().formatHex(bytes);
  }
}

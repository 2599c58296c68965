package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.IndexWalk;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.Address;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Checks that index and log of a quiet store are consistent: the addresses that divide the log are
 * in order, chains lead downwards through complete records, and for every key that a scan of the
 * log finds, the walk from the index by the key's hash ends at the key's newest record. A chain may
 * contain records of keys that are found through other chains, since a resize of the index relinks
 * no record. Only the calling thread may use the store meanwhile.
 */
public final class StoreInvariants {
  private final Engine engine;
  private final HybridLog log;
  private final RecordLayout layout;
  private final MemorySegment buffer;
  private final MemorySegment keyBuffer;
  private final IndexTable table;
  private final List<IndexWalk.Entry> entries;
  private final EpochUser user;
  private final LongConsumer beforeCopy;
  private final Map<Own, IndexWalk.Entry> ownEntries = new HashMap<>();
  private final Map<Slot, IndexWalk.Entry> sharedEntries = new HashMap<>();

  /** A bucket and a tag that has an entry in it. */
  private record Own(long bucket, long tag) {}

  /** A saturated bucket and the number of an entry shared by several tags. */
  private record Slot(long bucket, int slot) {}

  /**
   * The result of a scan for a key: the address of its newest record, and whether it is deleted.
   */
  private record Newest(long address, boolean isDeleted) {}

  private StoreInvariants(Engine engine, Arena arena, EpochUser user, LongConsumer beforeCopy) {
    this.engine = engine;
    this.user = user;
    this.beforeCopy = beforeCopy;
    log = engine.log();
    layout = engine.layout();
    buffer = arena.allocate(log.pageBytes(), Long.BYTES);
    keyBuffer = arena.allocate(log.pageBytes(), Long.BYTES);
    table = engine.index().soleTable();
    entries = IndexWalk.entries(table);
    assertThat(table.entries()).as("number of entries").isEqualTo(entries.size());
    assertThat(table.saturatedChains()).isEqualTo(IndexWalk.saturatedBuckets(table));
    for (IndexWalk.Entry entry : entries) {
      ownEntries.put(new Own(entry.bucket(), entry.tag()), entry);
      if (entry.sharedSlot() >= 0) {
        sharedEntries.put(new Slot(entry.bucket(), entry.sharedSlot()), entry);
      }
    }
  }

  public static void check(FasterStore store) {
    check(store, address -> {});
  }

  /**
   * @param beforeCopy receives each address that is about to be read from memory
   */
  static void check(FasterStore store, LongConsumer beforeCopy) {
    Map<ByteBuffer, Newest> newest = newestByScan(store);
    Engine engine = Insides.engine(store);
    try (Arena arena = Arena.ofConfined();
        EpochUser user = engine.epochs().register()) {
      StoreInvariants invariants = new StoreInvariants(engine, arena, user, beforeCopy);
      invariants.checkMarks();
      invariants.checkChains();
      newest.forEach((key, found) -> {
        long reached = invariants.newestByIndex(key);
        if (found.isDeleted) {
          assertThat(reached).as("deleted key " + hex(key)).isEqualTo(Address.NONE);
        } else {
          assertThat(reached).as("newest record of " + hex(key)).isEqualTo(found.address);
        }
      });
    }
  }

  /** The last record of each key in the log. */
  private static Map<ByteBuffer, Newest> newestByScan(FasterStore store) {
    Map<ByteBuffer, Newest> newest = new HashMap<>();
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        ByteBuffer key = ByteBuffer.wrap(scan.key().toArray());
        newest.put(key, new Newest(scan.address(), scan.isTombstone()));
      }
    }
    return newest;
  }

  private void checkMarks() {
    long readOnly = Math.min(log.regions().inPlaceFrom(), log.tailAddress());
    assertThat(
            List.of(
                log.removableBelow(),
                log.beginAddress(),
                log.headAddress(),
                log.flushedAddress(),
                log.safeReadOnlyAddress(),
                readOnly,
                log.tailAddress()))
        .as("removable, begin, head, flushed, safe read-only, read-only, tail")
        .isSorted();
  }

  /** Every chain, on both sides of every fork. */
  private void checkChains() {
    Set<Long> seen = new HashSet<>();
    for (IndexWalk.Entry entry : entries) {
      checkChain(entry.toString(), entry.address(), log.tailAddress(), seen);
    }
  }

  private void checkChain(String entry, long from, long tail, Set<Long> seen) {
    long above = tail;
    long at = from;
    while (at >= log.beginAddress() && seen.add(at)) {
      assertThat(at).as("a chain leads down: " + entry).isLessThan(above);
      readRecord(at);
      long info = RecordLayout.info(buffer, 0);
      above = at;
      if (RecordInfo.isFork(info)) {
        long left = ForkRecord.left(buffer, 0);
        checkChain(entry, ForkRecord.right(buffer, 0), above, seen);
        at = left;
      } else {
        at = RecordInfo.previousAddress(info);
      }
    }
  }

  /**
   * The address that the walk by a key's hash finds; 0 for none, a tombstone, or an expired value.
   */
  private long newestByIndex(ByteBuffer bytes) {
    int length = bytes.remaining();
    MemorySegment.copy(MemorySegment.ofBuffer(bytes), 0, keyBuffer, 0, length);
    KeyBytes key = new KeyBytes();
    key.set(keyBuffer, length);
    long hash = engine.hash(key);
    long at = lookUp(hash);
    while (at >= log.beginAddress()) {
      readRecord(at);
      long info = RecordLayout.info(buffer, 0);
      if (RecordInfo.isFork(info)) {
        at = ForkRecord.next(buffer, 0, hash);
      } else if (layout.keyEquals(buffer, 0, key)) {
        assertThat(RecordInfo.isOverwritten(info))
            .as("the newest record, at " + at + ", says that it was overwritten")
            .isFalse();
        return RecordInfo.isTombstone(info) || hasExpired(info) ? Address.NONE : at;
      } else {
        at = RecordInfo.previousAddress(info);
      }
    }
    return Address.NONE;
  }

  /** Whether the record just read has a large value whose first chunk was dropped. */
  private boolean hasExpired(long info) {
    if (!RecordInfo.isLarge(info)) {
      return false;
    }
    LargeAnchor anchor = LargeAnchor.read(buffer, 0);
    assertThat(anchor).as("an anchor").isNotNull();
    return anchor.oldest() < log.beginAddress();
  }

  private long lookUp(long hash) {
    long bucket = IndexWalk.bucketOf(table, hash);
    long tag = IndexWalk.tagOf(table, hash);
    IndexWalk.Entry own = ownEntries.get(new Own(bucket, tag));
    IndexWalk.Entry shared = sharedEntries.get(new Slot(bucket, IndexWalk.sharedSlotOf(tag)));
    IndexWalk.Entry entry = own != null ? own : shared;
    return entry == null ? Address.NONE : entry.address();
  }

  /** Reads the record at an address, from memory or the device. */
  private void readRecord(long at) {
    read(at, layout.headerBytes());
    long info = RecordLayout.info(buffer, 0);
    assertThat(RecordInfo.isPresent(info)).as("a record at " + at).isTrue();
    assertThat(RecordInfo.isPadding(info)).as("padding at " + at).isFalse();
    assertThat(RecordInfo.isInvalid(info)).as("invalid record at " + at + " in a chain").isFalse();
    if (RecordInfo.isFork(info)) {
      read(at, ForkRecord.BYTES);
      return;
    }
    long bytes = layout.recordBytes(buffer, 0);
    assertThat(at + bytes).as("end of record at " + at).isLessThanOrEqualTo(log.pageEnd(at));
    read(at, bytes);
    assertThat(RecordLayout.info(buffer, 0)).as("the record at " + at).isEqualTo(info);
    assertThat(layout.isSound(buffer, 0, bytes)).as("sizes of record at " + at).isTrue();
  }

  private void read(long at, long bytes) {
    MemorySegment target = buffer.asSlice(0, bytes);
    // A flush that ends now raises the head address, and memory below it is cleared.
    user.protect();
    try {
      if (at >= log.headAddress()) {
        beforeCopy.accept(at);
        target.copyFrom(log.memory().asSlice(log.offset(at), bytes));
        return;
      }
    } finally {
      user.unprotect();
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

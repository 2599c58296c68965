package io.fasterkv.api.config;

import io.fasterkv.api.LongMerge;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfig.RecordKind;

/** Derives the settings that were not set and checks that all parts fit the budget. */
final class ConfigRules {
  private static final int MIN_PAGE_BYTES = 4 << 10;
  private static final int MAX_PAGE_BYTES = 64 << 20;
  private static final int PREFERRED_PAGE_BYTES = 1 << 20;
  private static final int MIN_PAGES = 4;

  /** In memory, up to half of them are reserved for compaction and tombstones. */
  private static final int MIN_PAGES_IN_MEMORY = 8;

  private static final int PREFERRED_PAGES = 64;
  private static final long MIN_MEMORY_BYTES = 64L << 10;

  /** Far above any machine's memory, and low enough that sums of sizes do not overflow. */
  private static final long MAX_MEMORY_BYTES = 1L << 48;

  private static final long MIN_INDEX_BYTES = 256;
  private static final long MIN_SEGMENT_BYTES = 64L << 20;
  private static final long MAX_SEGMENT_BYTES = 1L << 30;
  private static final int MAX_SESSIONS = 1024;
  private static final int MAX_HALVINGS = 2;

  /** The io_uring rings may take one part in this many of the memory. */
  private static final long RING_SHARE = 64;

  private final StoreConfigBuilder b;

  ConfigRules(StoreConfigBuilder builder) {
    b = builder;
  }

  StoreConfig resolve() {
    check(
        b.memoryBytes >= MIN_MEMORY_BYTES && b.memoryBytes <= MAX_MEMORY_BYTES,
        "memoryBytes",
        b.memoryBytes,
        "64 KiB to 256 TiB");
    check(
        b.maxSessions >= 1 && b.maxSessions <= MAX_SESSIONS,
        "maxSessions",
        b.maxSessions,
        "1 to " + MAX_SESSIONS);
    check(
        b.mutableFraction >= 0 && b.mutableFraction <= 1,
        "mutableFraction",
        b.mutableFraction,
        "0 to 1");
    if (b.directory == null) {
      checkInMemory();
    }
    check(
        b.maxMemoryBytes == 0
            || (b.maxMemoryBytes >= b.memoryBytes && b.maxMemoryBytes <= MAX_MEMORY_BYTES),
        "maxMemoryBytes",
        b.maxMemoryBytes,
        "0, or memoryBytes=" + b.memoryBytes + " to 256 TiB");
    check(
        b.maxMemoryBytes <= b.memoryBytes || !b.preallocate,
        "preallocate",
        true,
        "false where maxMemoryBytes=" + b.maxMemoryBytes + " is above memoryBytes");
    checkPart("indexBytes", b.indexBytes);
    checkPart("maxIndexBytes", b.maxIndexBytes);
    checkPart("logMemoryBytes", b.logMemoryBytes);
    checkPart("scratchBytes", b.scratchBytes);
    long logMemory = logMemoryBytes();
    int page = pageBytes(logMemory);
    long scratch = b.scratchBytes != 0 ? b.scratchBytes : defaultScratch(page);
    long leastScratch = (b.directory == null ? 8L : 2L) * page;
    check(
        scratch >= leastScratch,
        "scratchBytes",
        scratch,
        leastScratch / page + " pages and above (" + leastScratch + ")");
    long rest = b.memoryBytes - logMemory - scratch;
    long wanted = indexBytes(0);
    int rings = maxRings(rest - wanted - growth(wanted));
    long index = indexBytes(rest - rings * StoreConfig.RING_BYTES);
    checkSum(index, growth(index), logMemory, scratch);
    check(index >= MIN_INDEX_BYTES, "indexBytes", index, MIN_INDEX_BYTES + " and above");
    check(
        b.compactionBytesPerSecond >= 0,
        "compactionBytesPerSecond",
        b.compactionBytesPerSecond,
        "0 for no limit, and above");
    check(b.spaceWaitMillis >= 0, "spaceWaitMillis", b.spaceWaitMillis, "0 for no wait, and above");
    check(
        b.maxIndexBytes == 0 || b.maxIndexBytes >= index,
        "maxIndexBytes",
        b.maxIndexBytes,
        "indexBytes=" + index + " and above");
    check(
        !b.growingIndex || b.maxIndexBytes == 0,
        "growingIndex",
        true,
        "false where maxIndexBytes=" + b.maxIndexBytes + " is set");
    checkHalvings();
    checkMerge();
    StoreConfigBuilder resolved = b.copy();
    resolved.indexBytes = index;
    resolved.logMemoryBytes = logMemory;
    resolved.pageBytes = page;
    resolved.segmentBytes = segmentBytes(page);
    resolved.scratchBytes = scratch;
    resolved.maxRings = rings;
    return new StoreConfig(resolved);
  }

  /** Rejects settings that need a device or a directory. */
  private void checkInMemory() {
    String instead = " in memory; or open the store with a directory";
    check(b.mutableFraction == 1, "mutableFraction", b.mutableFraction, "1" + instead);
    check(b.segmentBytes == 0, "segmentBytes", b.segmentBytes, "none" + instead);
    check(b.maxMemoryBytes == 0, "maxMemoryBytes", b.maxMemoryBytes, "0" + instead);
    check(!b.directIo, "directIo", true, "false" + instead);
    check(b.ioKind == IoKind.AUTO, "ioKind", b.ioKind, "AUTO" + instead);
    check(b.deleteOnClose, "deleteOnClose", false, "true" + instead + ", to keep what it holds");
    check(
        b.compactionBytesPerSecond == 0,
        "compactionBytesPerSecond",
        b.compactionBytesPerSecond,
        "0" + instead + ", since writers wait for compaction");
  }

  private void checkHalvings() {
    boolean mayBeAny = b.directory != null && b.maxIndexBytes == 0;
    check(
        b.logHalvings >= 0 && b.logHalvings <= (mayBeAny ? MAX_HALVINGS : 0),
        "logHalvings",
        b.logHalvings,
        "0 to " + MAX_HALVINGS + ", and 0 where maxIndexBytes is set or the store is in memory");
  }

  private void checkMerge() {
    boolean fits =
        b.merge == null || (b.recordKind == RecordKind.LONGS) == (b.merge instanceof LongMerge);
    check(
        fits,
        "merge",
        b.merge instanceof LongMerge ? "LongMerge" : "SpanMerge",
        "LongMerge for recordKind=LONGS, SpanMerge for recordKind=SPANS; recordKind="
            + b.recordKind);
  }

  private long indexBytes(long room) {
    if (b.indexBytes != 0) {
      return b.indexBytes;
    }
    return b.maxIndexBytes != 0 ? b.maxIndexBytes : room;
  }

  /**
   * Bytes reserved for growth beside the index. While the index doubles to its largest size, its
   * half-sized predecessor exists too.
   */
  private long growth(long index) {
    return b.maxIndexBytes == 0 ? 0 : b.maxIndexBytes + b.maxIndexBytes / 2 - index;
  }

  /**
   * By default the largest power of two up to half of the budget: where records leave memory, an
   * index entry is worth more than a record. Up to three quarters for a store in memory.
   */
  private long logMemoryBytes() {
    if (b.logMemoryBytes == 0) {
      long others = b.directory == null ? b.memoryBytes / 4 : b.memoryBytes / 2;
      return Long.highestOneBit(b.memoryBytes - others);
    }
    check(
        isPowerOfTwo(b.logMemoryBytes) && b.logMemoryBytes >= minPages() * MIN_PAGE_BYTES,
        "logMemoryBytes",
        b.logMemoryBytes,
        "a power of two from " + (minPages() * MIN_PAGE_BYTES >> 10) + " KiB on");
    return b.logMemoryBytes;
  }

  private long minPages() {
    return b.directory == null ? MIN_PAGES_IN_MEMORY : MIN_PAGES;
  }

  private int pageBytes(long logMemory) {
    if (b.pageBytes == 0) {
      long fitting = Long.highestOneBit(logMemory / PREFERRED_PAGES);
      return Math.clamp(fitting, MIN_PAGE_BYTES, PREFERRED_PAGE_BYTES);
    }
    check(
        isPowerOfTwo(b.pageBytes) && b.pageBytes >= MIN_PAGE_BYTES && b.pageBytes <= MAX_PAGE_BYTES,
        "pageBytes",
        b.pageBytes,
        "a power of two from 4 KiB to 64 MiB");
    check(
        logMemory / b.pageBytes >= minPages(),
        "pageBytes",
        b.pageBytes,
        "at most 1/" + minPages() + " of logMemoryBytes=" + logMemory);
    return b.pageBytes;
  }

  private long defaultScratch(int page) {
    return Math.max((b.merge == null ? 8L : 16L) * page, b.memoryBytes / 32);
  }

  private int maxRings(long roomBytes) {
    if (b.maxRings != StoreConfigBuilder.DERIVED) {
      return b.maxRings;
    }
    long bytes = Math.min(roomBytes, b.memoryBytes / RING_SHARE);
    return b.ioKind == IoKind.FILE || b.directory == null
        ? 0
        : Math.clamp(bytes / StoreConfig.RING_BYTES, 0, b.maxSessions);
  }

  private long segmentBytes(int page) {
    if (b.segmentBytes == 0) {
      return Math.max(MIN_SEGMENT_BYTES, page);
    }
    check(
        isPowerOfTwo(b.segmentBytes)
            && b.segmentBytes >= page
            && b.segmentBytes <= MAX_SEGMENT_BYTES,
        "segmentBytes",
        b.segmentBytes,
        "a power of two from pageBytes=" + page + " to 1 GiB");
    return b.segmentBytes;
  }

  private void checkPart(String name, long bytes) {
    check(bytes >= 0 && bytes <= b.memoryBytes, name, bytes, "0 to memoryBytes=" + b.memoryBytes);
  }

  private void checkSum(long index, long growth, long logMemory, long scratch) {
    long sum = index + growth + logMemory + scratch;
    if (index <= 0 || sum > b.memoryBytes) {
      throw new BadConfig(
          "the parts do not fit the budget: memoryBytes="
              + b.memoryBytes
              + ", needed="
              + sum
              + "; indexBytes="
              + index
              + ", growth to maxIndexBytes="
              + growth
              + ", logMemoryBytes="
              + logMemory
              + ", scratchBytes="
              + scratch
              + "; raise memoryBytes or lower a part");
    }
  }

  private static boolean isPowerOfTwo(long value) {
    return value > 0 && Long.bitCount(value) == 1;
  }

  private static void check(boolean allowed, String name, Object value, String range) {
    if (!allowed) {
      throw new BadConfig(name + " is out of range: " + name + "=" + value + ", allowed=" + range);
    }
  }
}

package io.fasterkv.api.config;

import io.fasterkv.api.Merge;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.spi.KeyFilter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a store. {@link StoreConfigBuilder#build()} derives what was not set, checks all
 * settings once and freezes them: no other code can create an instance. {@link StoreConfigBuilder}
 * explains each setting. All sizes are in bytes. All off-heap memory of the store is part of {@code
 * memoryBytes}.
 */
public final class StoreConfig {
  /** The longest value that any store can hold, in bytes. */
  public static final int MAX_VALUE_BYTES = 1 << 30;

  /** Selects how pending operations read the disk. */
  public enum IoKind {
    /**
     * {@link #URING} if native access is granted and the kernel allows it, otherwise {@link #FILE}.
     */
    AUTO,
    /** One thread per read. */
    FILE,
    /**
     * Uses io_uring, with no thread but the session's own. Opening the store fails if io_uring is
     * not available.
     */
    URING
  }

  /** Selects what a store's records hold. */
  public enum RecordKind {
    /**
     * Keys and values of any length; keys up to half a page, values up to {@link #maxValueBytes}.
     */
    SPANS,
    /** {@code long} keys and {@code long} values, in records of 24 bytes. */
    LONGS
  }

  /** Kernel memory of one io_uring, in bytes; part of the budget. */
  static final long RING_BYTES = 8 << 10;

  private final StoreConfigBuilder settings;

  /**
   * Only {@link ConfigRules} calls this, with settings that it has checked.
   *
   * @param settings a copy that nothing else refers to
   */
  StoreConfig(StoreConfigBuilder settings) {
    this.settings = settings;
  }

  /**
   * Returns a builder with the default settings.
   *
   * @param directory where log segments and checkpoints are stored
   * @return a new builder
   */
  public static StoreConfigBuilder builder(Path directory) {
    return new StoreConfigBuilder(directory);
  }

  /**
   * Returns a builder with the default settings of a store without a device and without files (the
   * in-memory allocator of SIGMOD'18, section 4). Such a store takes no checkpoints, but a cut can
   * be scanned. All records are in the log's memory, and all of that memory is updated in place.
   *
   * <p>Compaction frees the memory of dead records. A background thread copies live records
   * together when memory runs short; with {@code backgroundCompaction(false)}, {@link
   * io.fasterkv.StoreLog#compact()} does. When live records fill the memory, operations that need
   * room throw {@link io.fasterkv.api.StoreException.OutOfBudget}. Reads, updates in place and
   * deletes still work, and deletes make room. Some memory is reserved for compaction: two pages,
   * and twice the largest value that does not fit a page.
   *
   * <p>A cut makes the records before it read-only, and compaction makes those of its current page
   * read-only. An update or delete of such a record appends a new one, so that readers of the log
   * from the cut on see the change. Compaction makes the records mutable again once no cut, scan or
   * history retains the pages. Until then, deletes of these records use a reserve for tombstones:
   * 1/32 of the log's memory, at least a page. When it is used up, these deletes throw {@link
   * io.fasterkv.api.StoreException.OutOfBudget} too, until the readers are closed. Deletes of all
   * other records never do.
   *
   * @return a new builder
   */
  public static StoreConfigBuilder inMemory() {
    StoreConfigBuilder builder = new StoreConfigBuilder(null);
    builder.mutableFraction = 1;
    builder.deleteOnClose = true;
    builder.backgroundCompaction = true;
    return builder;
  }

  /**
   * Returns a builder with these settings. Sizes that were derived are kept as they are; set them
   * to 0 to derive them again.
   *
   * @return a new builder
   */
  public StoreConfigBuilder toBuilder() {
    StoreConfigBuilder copy = settings.copy();
    if (isInMemory()) {
      copy.segmentBytes = 0;
    }
    return copy;
  }

  /** {@return whether the store has neither a device nor files} */
  public boolean isInMemory() {
    return settings.directory == null;
  }

  /**
   * Returns where log segments and checkpoints are stored.
   *
   * @return the directory
   * @throws BadConfig if the store is in memory
   */
  public Path directory() {
    Path directory = settings.directory;
    if (directory == null) {
      throw new BadConfig(
          "a store in memory has no directory and no checkpoints: directory=none, allowed=a"
              + " directory; build the settings with StoreConfig.builder(directory), or scan a"
              + " cut and keep what it shows");
    }
    return directory;
  }

  /** {@return the budget for all off-heap memory, in bytes} */
  public long memoryBytes() {
    return settings.memoryBytes;
  }

  /**
   * {@return the memory up to which the store can grow, in bytes; {@link #memoryBytes()} if it does
   * not}
   */
  public long maxMemoryBytes() {
    return Math.max(settings.memoryBytes, settings.maxMemoryBytes);
  }

  /** {@return the size of the index when the store opens, in bytes} */
  public long indexBytes() {
    return settings.indexBytes;
  }

  /** {@return whether a large index starts small and grows} */
  public boolean growingIndex() {
    return settings.growingIndex;
  }

  /** {@return the size to which the index can always grow, in bytes} */
  public long maxIndexBytes() {
    return Math.max(settings.indexBytes, settings.maxIndexBytes);
  }

  /** {@return the size of the log's circular buffer, in bytes} */
  public long logMemoryBytes() {
    return settings.logMemoryBytes;
  }

  /** {@return how often the log may give half of its memory to the index} */
  public int logHalvings() {
    return settings.logHalvings;
  }

  /** {@return the size of a log page, in bytes} */
  public int pageBytes() {
    return settings.pageBytes;
  }

  /** {@return the part of the log's buffer that is updated in place} */
  public double mutableFraction() {
    return settings.mutableFraction;
  }

  /** {@return the memory for disk reads, scans and keys, in bytes} */
  public long scratchBytes() {
    return settings.scratchBytes;
  }

  /** {@return how many sessions may be open at a time} */
  public int maxSessions() {
    return settings.maxSessions;
  }

  /** {@return whether the store requests huge pages} */
  public boolean hugePages() {
    return settings.hugePages;
  }

  /** {@return whether the store takes all memory when it opens} */
  public boolean preallocate() {
    return settings.preallocate;
  }

  /** {@return what records hold} */
  public RecordKind recordKind() {
    return settings.recordKind;
  }

  /** {@return the hash of keys of variable length} */
  public KeyHash keyHash() {
    return settings.keyHash;
  }

  /** {@return the merge of deltas; null if no RMW appends one} */
  public @Nullable Merge merge() {
    return settings.merge;
  }

  /** {@return the filter of keys; null if all keys belong to the store} */
  public @Nullable KeyFilter keyFilter() {
    return settings.keyFilter;
  }

  /** {@return the size of a log segment file, in bytes} */
  public long segmentBytes() {
    return settings.segmentBytes;
  }

  /** {@return whether {@code close} deletes the log's files} */
  public boolean deleteOnClose() {
    return settings.deleteOnClose;
  }

  /** {@return how pending operations read the disk} */
  public IoKind ioKind() {
    return settings.ioKind;
  }

  /** {@return whether the log's transfers bypass the page cache} */
  public boolean directIo() {
    return settings.directIo;
  }

  /** {@return whether short reads use mapped files} */
  public boolean mappedReads() {
    return settings.mappedReads;
  }

  /** {@return how long operations wait for free space on a full disk, in milliseconds} */
  public long spaceWaitMillis() {
    return settings.spaceWaitMillis;
  }

  /** {@return how many sessions may have an io_uring of their own} */
  public int maxRings() {
    return settings.maxRings;
  }

  /** {@return the kernel memory of these rings, in bytes; part of the budget} */
  public long ringBytes() {
    return maxRings() * RING_BYTES;
  }

  /** {@return whether a thread of the store compacts the log} */
  public boolean backgroundCompaction() {
    return settings.backgroundCompaction;
  }

  /**
   * {@return how many bytes of log background compaction scans per second at most; 0 for no limit}
   */
  public long compactionBytesPerSecond() {
    return settings.compactionBytesPerSecond;
  }

  /** {@return the rule that says which records compaction keeps; null for all live records} */
  public @Nullable KeepRule keepRule() {
    return settings.keepRule;
  }

  /** {@return how sessions move to the next version during a checkpoint} */
  public VersionShift versionShift() {
    return settings.versionShift;
  }

  /** {@return the logger of all log lines} */
  public System.Logger logger() {
    return settings.logger;
  }

  /**
   * Returns the length of the longest value that this store accepts. Values whose records fit a
   * page are always accepted. A reader receives a value in one piece of scratch memory, so this is
   * the largest power of two, up to 1 GiB, that {@code scratchBytes} allows after a reserve for all
   * other uses is subtracted. The reserve is 1/32 of {@code scratchBytes}, and at least four pages
   * or half of it, whichever is less. A length of 1 GiB needs {@code scratchBytes} of 1.1 GiB and
   * log pages up to 16 MiB. With a {@code merge}, the limit is half of that, because the value is
   * read while the result of merging it is built.
   *
   * @return the length in bytes; 8 if the records are longs
   */
  public int maxValueBytes() {
    if (recordKind() == RecordKind.LONGS) {
      return Long.BYTES;
    }
    long others = Math.max(scratchBytes() / 32, Math.min(4L * pageBytes(), scratchBytes() / 2));
    long large = Long.highestOneBit(scratchBytes() - others);
    return (int) Math.min(MAX_VALUE_BYTES, merge() == null ? large : large / 2);
  }
}

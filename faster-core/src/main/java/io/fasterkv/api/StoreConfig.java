package io.fasterkv.api;

import io.fasterkv.api.StoreException.BadConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a store. {@link Builder#build()} creates them, checks them once and freezes them.
 * All sizes are in bytes. All off-heap memory of the store is part of {@code memoryBytes}: index,
 * log pages, buffers and tables. The store allocates nothing beyond it.
 *
 * @param directory where log segments and checkpoints are stored; created if missing; null for a
 *     store in memory
 * @param memoryBytes the whole budget, 64 KiB to 256 TiB; the sum of all parts below is at most
 *     this
 * @param indexBytes hash buckets of 64 bytes, including overflow buckets, when the store opens
 * @param growingIndex whether an index of 16 MiB or more starts at 1/16 of {@code indexBytes} and
 *     grows once, online, to its full size. It grows when chains outgrow their buckets, or when
 *     records of new keys fill half of the log's memory. A small index is faster. Operations
 *     continue during the growth; a checkpoint waits for it, at most a second for each three
 *     million keys. A recovered store starts with the index of its checkpoint's image and lets that
 *     grow; without an image it starts at full size
 * @param logHalvings how often, 0 to 2, the log may give half of its memory to an index that is
 *     nearly full, so that records need not share entries; 0 by default. It needs {@code hugePages}
 *     and native access. The log does not get the memory back. Not for a store in memory, and not
 *     together with {@code maxIndexBytes}
 * @param maxIndexBytes the size to which the index can always grow. If set, half as much again is
 *     reserved for the time when the index exists in two sizes. By default nothing is reserved: the
 *     index then grows and shrinks only if the other parts leave enough memory
 * @param logMemoryBytes the log's circular buffer, a power of two, at least four pages
 * @param pageBytes size of a log page, a power of two from 4 KiB to 64 MiB. A key must fit half a
 *     page; a value that does not fit a page is stored in pieces
 * @param mutableFraction part of the buffer that is updated in place, 0 (append-only) to 1; 0.9 by
 *     default, as in the paper (SIGMOD'18, section 6.4). With a device, two pages always remain for
 *     flushing. A store in memory always uses 1, which is the whole buffer
 * @param segmentBytes size of a log segment file, a power of two, from one page to 1 GiB
 * @param scratchBytes buffers for disk reads, scans, and keys; limits the longest value, see {@link
 *     #maxValueBytes}
 * @param maxSessions how many sessions may be open at a time, 1 to 1024
 * @param recordKind what records hold
 * @param keyHash hash of keys of variable length
 * @param deleteOnClose whether the log's files are temporary; {@code close} then deletes them
 * @param backgroundCompaction whether a background thread keeps the log within about twice its live
 *     bytes. Storage that a checkpoint needs stays until the checkpoint is removed. Such storage is
 *     within that limit too if at most an eighth of the live bytes is written while one checkpoint
 *     is kept
 * @param compactionBytesPerSecond how many bytes of log that thread scans per second at most. With
 *     0, the default, only the write rate limits it: about two bytes for each byte written, three
 *     where checkpoints are kept. With a limit below half of that, the log can grow beyond twice
 *     its live bytes
 * @param directIo whether the log's transfers bypass the system's page cache, so that the store
 *     uses no memory beyond its own. Where the file system does not support this, the store uses
 *     the page cache and logs one line
 * @param mappedReads whether short reads that a thread waits for use mapped files, if the JVM has
 *     native access; true by default, and never with {@code directIo}. Such a read takes a tenth of
 *     the time if the data is in the system's page cache. While the data comes from disk, no thread
 *     of the JVM passes a safepoint. Mapped pages count as the process's resident memory
 * @param hugePages whether to request huge pages from the system, true by default. Without native
 *     access, or if the system has none, the store logs one line and uses ordinary memory
 * @param preallocate whether opening the store takes all memory from the machine at once, instead
 *     of on first use, so that no operation waits for that; false by default
 * @param ioKind how pending operations read the disk
 * @param maxRings how many sessions may have an io_uring of their own, of 8 KiB each: up to {@code
 *     maxSessions}, within 1/64 of {@code memoryBytes}
 * @param versionShift how sessions move to the next version during a checkpoint
 * @param merge merges the deltas of RMWs that did not wait for the old value (SIGMOD'18, section
 *     6.3). With null, no RMW appends a delta. A store that contains deltas needs it, also after
 *     recovery
 * @param keyFilter which keys belong to the store; null for all
 * @param spaceWaitMillis how long operations that need room in the log wait for free space on a
 *     full disk, in milliseconds, a minute by default. After that time the device counts as failed.
 *     With 0, no operation waits
 * @param keepRule which records compaction keeps; null for all live records. With background
 *     compaction and files, the compaction thread samples a few pages of the log from time to time,
 *     and frees the head of the log when more than an eighth of the log may be dropped. It first
 *     writes that part to the device where it is only in memory
 */
public record StoreConfig(
    @Nullable Path directory,
    long memoryBytes,
    long indexBytes,
    boolean growingIndex,
    int logHalvings,
    long maxIndexBytes,
    long logMemoryBytes,
    int pageBytes,
    double mutableFraction,
    long segmentBytes,
    long scratchBytes,
    int maxSessions,
    RecordKind recordKind,
    KeyHash keyHash,
    boolean deleteOnClose,
    boolean backgroundCompaction,
    long compactionBytesPerSecond,
    boolean directIo,
    boolean mappedReads,
    boolean hugePages,
    boolean preallocate,
    IoKind ioKind,
    int maxRings,
    VersionShift versionShift,
    @Nullable Merge merge,
    @Nullable KeyFilter keyFilter,
    long spaceWaitMillis,
    @Nullable KeepRule keepRule) {

  /** Kernel memory of one io_uring, in bytes; part of the budget. */
  public static final long RING_BYTES = 8 << 10;

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

  /** Places in the epoch table for cuts, scans, checkpoints and compaction. */
  private static final int OWN_SLOTS = 16;

  /**
   * Returns the settings with which an index of a given size fits. The log's memory is halved, as
   * it was when the index grew to that size, as often as {@code logHalvings} and the page size
   * allow.
   *
   * @param bytes size of the index
   * @return these settings, or settings with a smaller log memory
   */
  public StoreConfig withIndexOf(long bytes) {
    boolean fits = bytes + maxRings * RING_BYTES <= indexRoomBytes();
    boolean isLast = logHalvings == 0 || logMemoryBytes / 2 < 4L * pageBytes;
    return fits || isLast ? this : halved().withIndexOf(bytes);
  }

  private StoreConfig halved() {
    return new StoreConfig(
        directory,
        memoryBytes,
        indexBytes,
        growingIndex,
        logHalvings - 1,
        maxIndexBytes,
        logMemoryBytes / 2,
        pageBytes,
        mutableFraction,
        segmentBytes,
        scratchBytes,
        maxSessions,
        recordKind,
        keyHash,
        deleteOnClose,
        backgroundCompaction,
        compactionBytesPerSecond,
        directIo,
        mappedReads,
        hugePages,
        preallocate,
        ioKind,
        maxRings,
        versionShift,
        merge,
        keyFilter,
        spaceWaitMillis,
        keepRule);
  }

  /** {@return the part of the budget that is left for the index, in bytes} */
  public long indexRoomBytes() {
    return memoryBytes - logMemoryBytes - scratchBytes;
  }

  /**
   * {@return the number of places in the epoch table: one per session, and some for the store's own
   * work}
   */
  public int epochSlots() {
    return maxSessions + OWN_SLOTS;
  }

  /** The longest value that any store can hold, in bytes. */
  public static final int MAX_VALUE_BYTES = 1 << 30;

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
    if (recordKind == RecordKind.LONGS) {
      return Long.BYTES;
    }
    return (int) (merge == null ? largeScratchBytes() : largeScratchBytes() / 2);
  }

  /**
   * {@return the part of {@code scratchBytes} that is for large values, in bytes; 0 if the records
   * are longs}
   */
  public long largeScratchBytes() {
    if (recordKind == RecordKind.LONGS) {
      return 0;
    }
    long others = Math.max(scratchBytes / 32, Math.min(4L * pageBytes, scratchBytes / 2));
    long most = merge == null ? MAX_VALUE_BYTES : 2L * MAX_VALUE_BYTES;
    return Math.min(most, Long.highestOneBit(scratchBytes - others));
  }

  /**
   * Returns a builder with the default settings.
   *
   * @param directory where log segments and checkpoints are stored
   * @return a new builder
   */
  public static Builder builder(Path directory) {
    return new Builder(directory);
  }

  /**
   * Returns a builder with the default settings of a store without a device and without files (the
   * in-memory allocator of SIGMOD'18, section 4). Such a store takes no checkpoints, but a cut can
   * be scanned. All records are in the log's memory, and all of that memory is updated in place.
   *
   * <p>Compaction frees the memory of dead records. A background thread copies live records
   * together when memory runs short; with {@code backgroundCompaction(false)}, {@link
   * io.fasterkv.FasterStore#compact} does. When live records fill the memory, operations that need
   * room throw {@link StoreException.OutOfBudget}. Reads, updates in place and deletes still work,
   * and deletes make room. Some memory is reserved for compaction: one page, and twice the largest
   * value that does not fit a page.
   *
   * <p>A cut makes the records before it read-only, and compaction makes those of its current page
   * read-only. An update or delete of such a record appends a new one, so that readers of the log
   * from the cut on see the change. Compaction makes the records mutable again once no cut, scan or
   * history retains the pages. Until then, deletes of these records use a reserve for tombstones:
   * 1/32 of the log's memory, at least a page, less up to a page that compaction was using. When it
   * is used up, these deletes throw {@link StoreException.OutOfBudget} too, until the readers are
   * closed. Deletes of all other records never do.
   *
   * @return a new builder
   */
  public static Builder inMemory() {
    Builder builder = new Builder(null);
    builder.mutableFraction = 1;
    builder.deleteOnClose = true;
    builder.backgroundCompaction = true;
    return builder;
  }

  /** {@return whether the store has neither a device nor files} */
  public boolean isInMemory() {
    return directory == null;
  }

  /**
   * Returns where log segments and checkpoints are stored.
   *
   * @return the directory
   * @throws BadConfig if the store is in memory
   */
  @Override
  public Path directory() {
    if (directory == null) {
      throw new BadConfig(
          "a store in memory has no directory and no checkpoints: directory=none, allowed=a"
              + " directory; build the settings with StoreConfig.builder(directory), or scan a"
              + " cut and keep what it shows");
    }
    return directory;
  }

  /**
   * Collects settings. Sizes that are not set are derived from {@code memoryBytes}. {@link
   * StoreConfig} explains each setting. Not safe for concurrent use.
   */
  public static final class Builder {
    final @Nullable Path directory;
    long memoryBytes = 256L << 20;
    long indexBytes;
    boolean growingIndex;
    int logHalvings;
    long maxIndexBytes;
    long logMemoryBytes;
    int pageBytes;
    double mutableFraction = 0.9;
    long segmentBytes;
    long scratchBytes;
    int maxSessions = 64;
    RecordKind recordKind = RecordKind.SPANS;
    KeyHash keyHash = DefaultKeyHash::hash;
    boolean deleteOnClose;
    boolean backgroundCompaction;
    long compactionBytesPerSecond;
    boolean directIo;
    boolean mappedReads = true;
    boolean hugePages = true;
    boolean preallocate;
    IoKind ioKind = IoKind.AUTO;
    VersionShift versionShift = VersionShift.FINE;
    @Nullable Merge merge;
    @Nullable KeyFilter keyFilter;
    long spaceWaitMillis = 60_000;
    @Nullable KeepRule keepRule;

    private Builder(@Nullable Path directory) {
      this.directory = directory;
    }

    /**
     * Sets the budget for all off-heap memory; 256 MiB by default.
     *
     * @param bytes 64 KiB to 256 TiB
     * @return this builder
     */
    public Builder memoryBytes(long bytes) {
      memoryBytes = bytes;
      return this;
    }

    /**
     * Sets the size of the index when the store opens. By default it is {@code maxIndexBytes} if
     * set, otherwise what the other parts leave.
     *
     * @param bytes size of the index, 256 or more; 0 for the default
     * @return this builder
     */
    public Builder indexBytes(long bytes) {
      indexBytes = bytes;
      return this;
    }

    /**
     * Lets the index start small and grow once, online; false by default.
     *
     * @param grows whether the index grows; not together with {@code maxIndexBytes}
     * @return this builder
     */
    public Builder growingIndex(boolean grows) {
      growingIndex = grows;
      return this;
    }

    /**
     * Lets the log give memory to an index that is nearly full; 0 by default.
     *
     * @param most how often the log may give half of its memory, 0 to 2
     * @return this builder
     */
    public Builder logHalvings(int most) {
      logHalvings = most;
      return this;
    }

    /**
     * Reserves memory for an index that grows to this size; nothing is reserved by default.
     *
     * @param bytes at least {@code indexBytes}; 0 for no reserve
     * @return this builder
     */
    public Builder maxIndexBytes(long bytes) {
      maxIndexBytes = bytes;
      return this;
    }

    /**
     * Sets the size of the log's circular buffer. By default it is the largest power of two up to
     * half of {@code memoryBytes}, or up to three quarters for a store in memory.
     *
     * @param bytes a power of two, at least 16 KiB; 0 for the default
     * @return this builder
     */
    public Builder logMemoryBytes(long bytes) {
      logMemoryBytes = bytes;
      return this;
    }

    /**
     * Sets the size of a log page. By default it is 1/64 of {@code logMemoryBytes}, between 4 KiB
     * and 1 MiB.
     *
     * @param bytes a power of two from 4 KiB to 64 MiB, at most a quarter of {@code
     *     logMemoryBytes}; 0 for the default
     * @return this builder
     */
    public Builder pageBytes(int bytes) {
      pageBytes = bytes;
      return this;
    }

    /**
     * Sets the part of the log's buffer that is updated in place; 0.9 by default.
     *
     * @param fraction 0 to 1; a store in memory allows only 1
     * @return this builder
     */
    public Builder mutableFraction(double fraction) {
      mutableFraction = fraction;
      return this;
    }

    /**
     * Sets the size of a log segment file; 64 MiB by default.
     *
     * @param bytes a power of two, from one page to 1 GiB; 0 for the default
     * @return this builder
     */
    public Builder segmentBytes(long bytes) {
      segmentBytes = bytes;
      return this;
    }

    /**
     * Sets the memory for disk reads, scans and keys. By default it is 1/32 of {@code memoryBytes},
     * and at least 8 pages, or 16 with a merge.
     *
     * @param bytes at least two pages, or eight for a store in memory; 0 for the default
     * @return this builder
     */
    public Builder scratchBytes(long bytes) {
      scratchBytes = bytes;
      return this;
    }

    /**
     * Sets how many sessions may be open at a time; 64 by default.
     *
     * @param sessions 1 to 1024
     * @return this builder
     */
    public Builder maxSessions(int sessions) {
      maxSessions = sessions;
      return this;
    }

    /**
     * Sets what records hold; {@link RecordKind#SPANS} by default.
     *
     * @param kind the kind of records
     * @return this builder
     */
    public Builder recordKind(RecordKind kind) {
      recordKind = kind;
      return this;
    }

    /**
     * Sets the hash of keys of variable length.
     *
     * @param hash a pure function; the same in every process that opens the store's files
     * @return this builder
     */
    public Builder keyHash(KeyHash hash) {
      keyHash = hash;
      return this;
    }

    /**
     * Makes the log's files temporary; false by default with a directory.
     *
     * @param delete whether {@code close} deletes the files
     * @return this builder
     */
    public Builder deleteOnClose(boolean delete) {
      deleteOnClose = delete;
      return this;
    }

    /**
     * Limits how fast background compaction scans the log; 0, the default, sets no limit.
     *
     * @param bytes bytes per second; 0 or more
     * @return this builder
     */
    public Builder compactionBytesPerSecond(long bytes) {
      compactionBytesPerSecond = bytes;
      return this;
    }

    /**
     * Turns background compaction on or off; off by default with a directory, on in memory.
     *
     * @param compact whether a thread of the store compacts the log
     * @return this builder
     */
    public Builder backgroundCompaction(boolean compact) {
      backgroundCompaction = compact;
      return this;
    }

    /**
     * Bypasses the system's page cache; false by default.
     *
     * @param direct whether to bypass it
     * @return this builder
     */
    public Builder directIo(boolean direct) {
      directIo = direct;
      return this;
    }

    /**
     * Uses mapped files for short reads; true by default.
     *
     * @param map whether to map files
     * @return this builder
     */
    public Builder mappedReads(boolean map) {
      mappedReads = map;
      return this;
    }

    /**
     * Requests huge pages from the system; true by default.
     *
     * @param ask whether to request them
     * @return this builder
     */
    public Builder hugePages(boolean ask) {
      hugePages = ask;
      return this;
    }

    /**
     * Takes all memory from the machine when the store opens; false by default.
     *
     * @param touch whether to do so
     * @return this builder
     */
    public Builder preallocate(boolean touch) {
      preallocate = touch;
      return this;
    }

    /**
     * Sets how sessions move to the next version; {@link VersionShift#FINE} by default.
     *
     * @param shift the way to move
     * @return this builder
     */
    public Builder versionShift(VersionShift shift) {
      versionShift = shift;
      return this;
    }

    /**
     * Sets how long operations wait for free space on a full disk; a minute by default.
     *
     * @param millis milliseconds; 0 for no wait
     * @return this builder
     */
    public Builder spaceWaitMillis(long millis) {
      spaceWaitMillis = millis;
      return this;
    }

    /**
     * Sets a filter, for a store that may be recovered from a log with keys that are not its own.
     *
     * @param filter says which keys belong to the store
     * @return this builder
     */
    public Builder keyFilter(KeyFilter filter) {
      keyFilter = filter;
      return this;
    }

    /**
     * Sets a rule by which compaction may drop live records.
     *
     * @param rule says which records to keep
     * @return this builder
     */
    public Builder keepRule(KeepRule rule) {
      keepRule = rule;
      return this;
    }

    /**
     * Sets how pending operations read the disk; {@link IoKind#AUTO} by default.
     *
     * @param kind the way to read; a store in memory allows only {@link IoKind#AUTO}
     * @return this builder
     */
    public Builder ioKind(IoKind kind) {
      ioKind = kind;
      return this;
    }

    /**
     * Lets RMWs of {@link MergeableFunctions} append deltas, in a store of {@link
     * RecordKind#SPANS}.
     *
     * @param merge merges the deltas
     * @return this builder
     */
    public Builder merge(SpanMerge merge) {
      this.merge = merge;
      return this;
    }

    /**
     * Lets RMWs of {@link MergeableLongFunctions} append deltas, in a store of {@link
     * RecordKind#LONGS}.
     *
     * @param merge merges the deltas
     * @return this builder
     */
    public Builder merge(LongMerge merge) {
      this.merge = merge;
      return this;
    }

    /**
     * Derives the settings that were not set, and checks that all parts fit.
     *
     * @return the settings
     * @throws StoreException.BadConfig if a setting is out of range; the message names the setting,
     *     its value, and what is allowed
     */
    public StoreConfig build() {
      return new ConfigRules(this).resolve();
    }
  }
}

package io.fasterkv.api.config;

import io.fasterkv.api.LongMerge;
import io.fasterkv.api.Merge;
import io.fasterkv.api.SpanMerge;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.spi.KeyFilter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Collects the settings of a store, in the groups memory, records, disk, compaction, checkpoints
 * and log lines. Sizes that are not set are derived from {@code memoryBytes}. {@link #build} checks
 * all of them together. Not safe for concurrent use.
 */
public final class StoreConfigBuilder {
  /** The number of rings is derived from the memory. */
  static final int DERIVED = -1;

  final @Nullable Path directory;

  // Memory
  long memoryBytes = 256L << 20;
  long maxMemoryBytes;
  long indexBytes;
  boolean growingIndex;
  long maxIndexBytes;
  long logMemoryBytes;
  int logHalvings;
  int pageBytes;
  double mutableFraction = 0.9;
  long scratchBytes;
  int maxSessions = 64;
  boolean hugePages = true;
  boolean preallocate;

  // Records
  RecordKind recordKind = RecordKind.SPANS;
  KeyHash keyHash = DefaultKeyHash::hash;
  @Nullable Merge merge;
  @Nullable KeyFilter keyFilter;

  // Disk
  long segmentBytes;
  boolean deleteOnClose;
  IoKind ioKind = IoKind.AUTO;
  boolean directIo;
  boolean mappedReads = true;
  long spaceWaitMillis = 60_000;

  /** How many rings, in settings that were resolved before; else {@link #DERIVED}. */
  int maxRings = DERIVED;

  // Compaction
  boolean backgroundCompaction;
  long compactionBytesPerSecond;
  @Nullable KeepRule keepRule;

  // Checkpoints
  VersionShift versionShift = VersionShift.FINE;

  // Log lines
  System.Logger logger = System.getLogger("io.fasterkv");

  StoreConfigBuilder(@Nullable Path directory) {
    this.directory = directory;
  }

  /** Copies all settings. */
  StoreConfigBuilder copy() {
    StoreConfigBuilder copy = new StoreConfigBuilder(directory);
    copy.memoryBytes = memoryBytes;
    copy.maxMemoryBytes = maxMemoryBytes;
    copy.indexBytes = indexBytes;
    copy.growingIndex = growingIndex;
    copy.maxIndexBytes = maxIndexBytes;
    copy.logMemoryBytes = logMemoryBytes;
    copy.logHalvings = logHalvings;
    copy.pageBytes = pageBytes;
    copy.mutableFraction = mutableFraction;
    copy.scratchBytes = scratchBytes;
    copy.maxSessions = maxSessions;
    copy.hugePages = hugePages;
    copy.preallocate = preallocate;
    copy.recordKind = recordKind;
    copy.keyHash = keyHash;
    copy.merge = merge;
    copy.keyFilter = keyFilter;
    copy.segmentBytes = segmentBytes;
    copy.deleteOnClose = deleteOnClose;
    copy.ioKind = ioKind;
    copy.directIo = directIo;
    copy.mappedReads = mappedReads;
    copy.spaceWaitMillis = spaceWaitMillis;
    copy.backgroundCompaction = backgroundCompaction;
    copy.compactionBytesPerSecond = compactionBytesPerSecond;
    copy.keepRule = keepRule;
    copy.versionShift = versionShift;
    copy.logger = logger;
    copy.maxRings = maxRings;
    return copy;
  }

  /**
   * Sets the budget for all off-heap memory; 256 MiB by default. Index, log pages, buffers and
   * tables are part of it. The store allocates nothing beyond it, except what it accepts later up
   * to {@code maxMemoryBytes}.
   *
   * @param bytes 64 KiB to 256 TiB; index, log, buffers and reserves together must fit
   * @return this builder
   */
  public StoreConfigBuilder memoryBytes(long bytes) {
    memoryBytes = bytes;
    return this;
  }

  /**
   * Lets the store get more memory while it is open, through {@link io.fasterkv.spi.MemoryHolder}.
   * Only the range of addresses is reserved. It needs {@code hugePages}, native access and enough
   * address space; otherwise the store keeps its size. Not for a store in memory, and not together
   * with {@code preallocate}. If the index has grown in this way, recovery from a checkpoint with
   * its image needs {@code memoryBytes} that are large enough for it.
   *
   * @param bytes {@code memoryBytes} to 256 TiB; 0, the default, for {@code memoryBytes}
   * @return this builder
   */
  public StoreConfigBuilder maxMemoryBytes(long bytes) {
    maxMemoryBytes = bytes;
    return this;
  }

  /**
   * Sets the size of the index when the store opens: hash buckets of 64 bytes, including overflow
   * buckets. By default it is {@code maxIndexBytes} if set, otherwise what the other parts leave.
   *
   * @param bytes size of the index, 256 or more; 0 for the default
   * @return this builder
   */
  public StoreConfigBuilder indexBytes(long bytes) {
    indexBytes = bytes;
    return this;
  }

  /**
   * Lets the index start at 1/16 of {@code indexBytes}, at least 64 KiB, and grow online; false by
   * default. It starts whole if the rest has no room for a table of twice that size. It grows when
   * chains outgrow their buckets, as far as there is memory for the old and the new table together.
   * A small index is faster. Operations continue during a growth; a checkpoint waits for it, at
   * most a second for each three million keys.
   *
   * <p>A recovered store starts with the index of its checkpoint's image and lets that grow;
   * without an image it starts at the size of the checkpoint's index, or at full size if that one
   * was full.
   *
   * @param grows whether the index grows; not together with {@code maxIndexBytes}
   * @return this builder
   */
  public StoreConfigBuilder growingIndex(boolean grows) {
    growingIndex = grows;
    return this;
  }

  /**
   * Reserves memory for an index that can always grow to this size. Half as much again is reserved
   * for the time when the index exists in two sizes. By default nothing is reserved: the index then
   * grows and shrinks only if the other parts leave enough memory.
   *
   * @param bytes at least {@code indexBytes}; 0 for no reserve
   * @return this builder
   */
  public StoreConfigBuilder maxIndexBytes(long bytes) {
    maxIndexBytes = bytes;
    return this;
  }

  /**
   * Sets the size of the log's circular buffer. By default it is the largest power of two up to
   * half of {@code memoryBytes}, or up to three quarters for a store in memory.
   *
   * @param bytes a power of two, at least four pages, or eight in memory; 0 for the default
   * @return this builder
   */
  public StoreConfigBuilder logMemoryBytes(long bytes) {
    logMemoryBytes = bytes;
    return this;
  }

  /**
   * Lets a nearly full index take half of the log's memory, so that records need not share entries;
   * 0 by default. It needs {@code hugePages} and native access. The log does not get the memory
   * back. Not for a store in memory, and not together with {@code maxIndexBytes}.
   *
   * @param most how often the index may take half of the log's memory, 0 to 2
   * @return this builder
   */
  public StoreConfigBuilder logHalvings(int most) {
    logHalvings = most;
    return this;
  }

  /**
   * Sets the size of a log page. By default it is 1/64 of {@code logMemoryBytes}, between 4 KiB and
   * 1 MiB. A key must fit half a page; a value that does not fit a page is stored in pieces.
   *
   * @param bytes a power of two from 4 KiB to 64 MiB, at most a quarter of {@code logMemoryBytes},
   *     or an eighth in memory; 0 for the default
   * @return this builder
   */
  public StoreConfigBuilder pageBytes(int bytes) {
    pageBytes = bytes;
    return this;
  }

  /**
   * Sets the part of the log's buffer that is updated in place; 0.9 by default, as in the paper
   * (SIGMOD'18, section 6.4). With a device, two pages always remain for flushing.
   *
   * @param fraction 0 (append-only) to 1; a store in memory allows only 1
   * @return this builder
   */
  public StoreConfigBuilder mutableFraction(double fraction) {
    mutableFraction = fraction;
    return this;
  }

  /**
   * Sets the memory for disk reads, scans and keys, which also limits the longest value (see {@link
   * StoreConfig#maxValueBytes}). By default it is 1/32 of {@code memoryBytes}, and at least 8
   * pages, or 16 with a merge.
   *
   * @param bytes at least two pages, or eight for a store in memory; 0 for the default
   * @return this builder
   */
  public StoreConfigBuilder scratchBytes(long bytes) {
    scratchBytes = bytes;
    return this;
  }

  /**
   * Sets how many sessions may be open at a time; 64 by default.
   *
   * @param sessions 1 to 1024
   * @return this builder
   */
  public StoreConfigBuilder maxSessions(int sessions) {
    maxSessions = sessions;
    return this;
  }

  /**
   * Requests huge pages from the system; true by default. Without native access, or if the system
   * has none, the store logs one line and uses ordinary memory.
   *
   * @param ask whether to request them
   * @return this builder
   */
  public StoreConfigBuilder hugePages(boolean ask) {
    hugePages = ask;
    return this;
  }

  /**
   * Takes all memory from the machine when the store opens, instead of on first use, so that no
   * operation waits for that; false by default.
   *
   * @param takesAll whether the store takes all memory when it opens
   * @return this builder
   */
  public StoreConfigBuilder preallocate(boolean takesAll) {
    preallocate = takesAll;
    return this;
  }

  /**
   * Sets what records hold; {@link RecordKind#SPANS} by default.
   *
   * @param kind the kind of records
   * @return this builder
   */
  public StoreConfigBuilder recordKind(RecordKind kind) {
    recordKind = kind;
    return this;
  }

  /**
   * Sets the hash of keys of variable length.
   *
   * @param hash a pure function; the same in every process that opens the store's files
   * @return this builder
   */
  public StoreConfigBuilder keyHash(KeyHash hash) {
    keyHash = hash;
    return this;
  }

  /**
   * Lets RMWs of {@link io.fasterkv.api.MergeableFunctions} append deltas, instead of waiting for
   * the old value, in a store of {@link RecordKind#SPANS} (SIGMOD'18, section 6.3). A store that
   * contains deltas needs the merge, also after recovery.
   *
   * @param merge merges the deltas
   * @return this builder
   */
  public StoreConfigBuilder merge(SpanMerge merge) {
    this.merge = merge;
    return this;
  }

  /**
   * Lets RMWs of {@link io.fasterkv.api.MergeableLongFunctions} append deltas, instead of waiting
   * for the old value, in a store of {@link RecordKind#LONGS} (SIGMOD'18, section 6.3). A store
   * that contains deltas needs the merge, also after recovery.
   *
   * @param merge merges the deltas
   * @return this builder
   */
  public StoreConfigBuilder merge(LongMerge merge) {
    this.merge = merge;
    return this;
  }

  /**
   * Sets a filter, for a store that may be recovered from a log with keys that are not its own. By
   * default all keys belong to the store.
   *
   * @param filter says which keys belong to the store
   * @return this builder
   */
  public StoreConfigBuilder keyFilter(KeyFilter filter) {
    keyFilter = filter;
    return this;
  }

  /**
   * Sets the size of a log segment file; 64 MiB by default.
   *
   * @param bytes a power of two, from one page to 1 GiB; 0 for the default
   * @return this builder
   */
  public StoreConfigBuilder segmentBytes(long bytes) {
    segmentBytes = bytes;
    return this;
  }

  /**
   * Makes the log's files temporary; false by default with a directory.
   *
   * @param delete whether {@code close} deletes the files
   * @return this builder
   */
  public StoreConfigBuilder deleteOnClose(boolean delete) {
    deleteOnClose = delete;
    return this;
  }

  /**
   * Sets how pending operations read the disk; {@link IoKind#AUTO} by default.
   *
   * @param kind the way to read; a store in memory allows only {@link IoKind#AUTO}
   * @return this builder
   */
  public StoreConfigBuilder ioKind(IoKind kind) {
    ioKind = kind;
    return this;
  }

  /**
   * Lets the log's transfers bypass the system's page cache, so that the store uses no memory
   * beyond its own; false by default. Where the file system does not support this, the store uses
   * the page cache and logs one line.
   *
   * @param direct whether to bypass it
   * @return this builder
   */
  public StoreConfigBuilder directIo(boolean direct) {
    directIo = direct;
    return this;
  }

  /**
   * Uses mapped files for short reads that a thread waits for, if the JVM has native access; true
   * by default, and never with {@code directIo}. Such a read takes a tenth of the time if the data
   * is in the system's page cache. While the data comes from disk, no thread of the JVM passes a
   * safepoint. Mapped pages count as the process's resident memory.
   *
   * @param map whether to map files
   * @return this builder
   */
  public StoreConfigBuilder mappedReads(boolean map) {
    mappedReads = map;
    return this;
  }

  /**
   * Sets how long operations that need room in the log wait for free space on a full disk; a minute
   * by default. After that time the device counts as failed.
   *
   * @param millis milliseconds; 0 for no wait
   * @return this builder
   */
  public StoreConfigBuilder spaceWaitMillis(long millis) {
    spaceWaitMillis = millis;
    return this;
  }

  /**
   * Lets a thread of the store compact the log; off by default with a directory, on in memory. It
   * keeps the log within about twice its live bytes. Storage that a checkpoint needs stays until
   * the checkpoint is removed. Such storage is within that limit too if at most an eighth of the
   * live bytes is written while one checkpoint is kept.
   *
   * @param compact whether a thread of the store compacts the log
   * @return this builder
   */
  public StoreConfigBuilder backgroundCompaction(boolean compact) {
    backgroundCompaction = compact;
    return this;
  }

  /**
   * Limits how fast background compaction scans the log. With 0, the default, only the write rate
   * limits it: about two bytes for each byte written, three where checkpoints are kept. With a
   * limit below half of that, the log can grow beyond twice its live bytes.
   *
   * @param bytes bytes per second; 0 or more
   * @return this builder
   */
  public StoreConfigBuilder compactionBytesPerSecond(long bytes) {
    compactionBytesPerSecond = bytes;
    return this;
  }

  /**
   * Sets a rule by which compaction may drop live records. With background compaction and files,
   * the compaction thread samples a few pages of the log from time to time, and frees the oldest
   * part of the log when more than an eighth of the log may be dropped. It first writes that part
   * to the device where it is only in memory.
   *
   * @param rule says which records to keep
   * @return this builder
   */
  public StoreConfigBuilder keepRule(KeepRule rule) {
    keepRule = rule;
    return this;
  }

  /**
   * Sets how sessions move to the next version during a checkpoint; {@link VersionShift#FINE} by
   * default.
   *
   * @param shift the way to move
   * @return this builder
   */
  public StoreConfigBuilder versionShift(VersionShift shift) {
    versionShift = shift;
    return this;
  }

  /**
   * Sets the logger that receives all log lines of the store; {@code
   * System.getLogger("io.fasterkv")} by default. Each line is complete text: no call passes
   * parameters to format.
   *
   * @param logger called by all threads of the store, also while the store holds locks; must not
   *     use the store
   * @return this builder
   */
  public StoreConfigBuilder logger(System.Logger logger) {
    this.logger = logger;
    return this;
  }

  /**
   * Derives the settings that were not set, and checks that all parts fit. The builder can be used
   * again.
   *
   * @return the settings
   * @throws io.fasterkv.api.StoreException.BadConfig if a setting is out of range; the message
   *     names the setting, its value, and what is allowed
   */
  public StoreConfig build() {
    return new ConfigRules(this).resolve();
  }
}

package io.fasterkv.api;

import io.fasterkv.api.StoreException.BadConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A store's settings: built once, checked once by {@link Builder#build()}, then frozen. All sizes
 * are bytes. Everything off-heap that the store takes, it takes out of {@code memoryBytes}: index,
 * log pages, buffers and tables; nothing is allocated past it.
 *
 * @param directory where log segments and checkpoints lie; created when missing; null in a store
 *     that is all in memory
 * @param memoryBytes the whole budget, 64 KiB and more; all parts below add up to at most this
 * @param indexBytes hash buckets of 64 bytes, overflow buckets included, when the store opens
 * @param growingIndex whether an index of 16 MiB and more begins with a sixteenth of {@code
 *     indexBytes}, and takes the rest once, by itself, when chains outgrow their buckets or records
 *     of new keys fill half of the log's memory: a small index is faster. Operations go on
 *     meanwhile, and a checkpoint waits for it, a second at most for each three million keys. A
 *     store that is recovered has the index of its checkpoint's image, and lets that grow; without
 *     an image it has all of it
 * @param logHalvings how often, 0 to 2, the log may give half of the memory that it has to an index
 *     that is nearly full, so that records need not share entries; 0 by default. It needs huge
 *     pages to be asked for and native access. What was given is not taken back. Not for a store in
 *     memory, nor with {@code maxIndexBytes}
 * @param maxIndexBytes what the index can grow to for certain; if that is set, half as much again
 *     is kept for the time when two sizes of the index exist. By default nothing is kept: the index
 *     then grows, and shrinks, only if the other parts leave the room
 * @param logMemoryBytes the log's circular buffer, a power of two, at least four pages
 * @param pageBytes size of a log page, a power of two from 4 KiB to 64 MiB; a key fits half a page,
 *     a value that does not fit a page is kept in pieces
 * @param mutableFraction part of the buffer that is updated in place, 0 (append-only) to 1; the
 *     paper's default is 0.9 (SIGMOD'18, section 6.4). With a device, two pages are always left for
 *     flushing; 1, and all of the buffer, is what a store in memory has
 * @param segmentBytes size of a log segment file, a power of two, at least a page
 * @param scratchBytes buffers for disk reads, scans, and keys; limits the longest value, see {@link
 *     #maxValueBytes}
 * @param maxSessions how many sessions may be open at a time, 1 to 1024
 * @param recordKind what records hold
 * @param keyHash hash of keys of variable length
 * @param deleteOnClose whether the log's files are temporary: removed by {@code close}
 * @param backgroundCompaction whether a thread of the store's keeps the log within about twice its
 *     live bytes; storage that a checkpoint needs stays until the checkpoint is removed, and is
 *     within that, too, if up to an eighth of the live bytes is written while one is kept
 * @param compactionBytesPerSecond how many bytes of log that thread looks at in a second at most;
 *     with 0, the default, it is bounded by what is written only: about two bytes for each, three
 *     where checkpoints are kept. A pace slower than half of that lets the log grow past twice its
 *     live bytes
 * @param directIo whether the log's transfers pass the system's page cache by, so that what the
 *     store has in memory is all there is; where the file system refuses, they do not, and a line
 *     in the log says so
 * @param mappedReads whether short reads that somebody waits for are of mapped files where the JVM
 *     has native access, true by default, and never with {@code directIo}: a tenth of the time if
 *     the system has them in its page cache. While such a page comes from the disk, no thread of
 *     the JVM passes a safepoint, and mapped pages count as the process's resident memory
 * @param hugePages whether to ask the system for huge pages, true by default: where the JVM was not
 *     given native access, or the system has none, one line is logged and ordinary memory is used
 * @param preallocate whether all memory is taken from the machine when the store is opened, and not
 *     as it is first used, so that no operation waits for that; false by default
 * @param ioKind how pending operations read the disk
 * @param maxRings how many sessions may have an io_uring of their own, of 8 KiB each: as many as
 *     there may be sessions, within a sixty-fourth of {@code memoryBytes}
 * @param versionShift how sessions go from one version to the next when a checkpoint is taken
 * @param merge merges the deltas of RMWs that did not wait for the old value (SIGMOD'18, section
 *     6.3); null: no RMW makes a delta. A store that has deltas, also after recovery, needs it
 * @param keyFilter which keys the store is there for; null: all
 * @param spaceWaitMillis how long operations that need room in the log wait for a full disk to have
 *     space again, a minute by default; when none has come free for so long the device counts as
 *     failed. With 0 nobody waits
 * @param keepRule which records compaction has to keep; null: all that are live. With background
 *     compaction and files, the thread looks at a few pages of the log from time to time, and frees
 *     its head when more than an eighth of the log may go; what of that is only in memory is
 *     written to the device before
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

  /** Kernel memory of a ring, out of the budget. */
  public static final long RING_BYTES = 8 << 10;

  /** How pending operations read the disk. */
  public enum IoKind {
    /** As URING where native access is granted and the kernel allows it, else as FILE. */
    AUTO,
    /** With a thread for each read. */
    FILE,
    /** Through io_uring, with no thread but the session's; opening fails where that cannot be. */
    URING
  }

  /** What a store's records hold. */
  public enum RecordKind {
    /** Keys and values of any length, up to half a page and {@link #maxValueBytes}. */
    SPANS,
    /** {@code long} keys and {@code long} values in records of 24 bytes. */
    LONGS
  }

  /** Places in the epoch table for cuts, scans, checkpoints and compaction. */
  private static final int OWN_SLOTS = 16;

  /**
   * The settings in which an index of {@code bytes} fits: the log's memory is halved, as it was
   * when the index became so large, as far as that is allowed.
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

  /** What the budget leaves to the index. */
  public long indexRoomBytes() {
    return memoryBytes - logMemoryBytes - scratchBytes;
  }

  /** Places in the epoch table: one a session, and some for the store's own work. */
  public int epochSlots() {
    return maxSessions + OWN_SLOTS;
  }

  /** The longest value that any store holds, bytes. */
  public static final int MAX_VALUE_BYTES = 1 << 30;

  /**
   * The longest value in bytes that this store holds, besides those whose records fit a page. A
   * value is given to its reader in one piece of scratch memory, so it is the largest power of two,
   * up to 1 GiB, that is left of {@code scratchBytes} when a 32nd and at least four pages, or half,
   * are set aside for all other uses. For 1 GiB: {@code scratchBytes} of 1.1 GiB, log pages up to
   * 16 MiB. Half of that where {@code merge} is set: a value is then read beside the one that its
   * deltas make of it.
   */
  public int maxValueBytes() {
    if (recordKind == RecordKind.LONGS) {
      return Long.BYTES;
    }
    return (int) (merge == null ? largeScratchBytes() : largeScratchBytes() / 2);
  }

  /** How much of {@code scratchBytes} is for large values; 0 when the records are longs. */
  public long largeScratchBytes() {
    if (recordKind == RecordKind.LONGS) {
      return 0;
    }
    long others = Math.max(scratchBytes / 32, Math.min(4L * pageBytes, scratchBytes / 2));
    long most = merge == null ? MAX_VALUE_BYTES : 2L * MAX_VALUE_BYTES;
    return Math.min(most, Long.highestOneBit(scratchBytes - others));
  }

  /** Starts from the defaults. */
  public static Builder builder(Path directory) {
    return new Builder(directory);
  }

  /**
   * Starts from the defaults of a store without a device and without files (the in-memory allocator
   * of SIGMOD'18, section 4): the log's memory is all there is, and all of it is updated in place.
   * What is dead is taken back: a thread of the store's rolls live records together when memory
   * gets short, or, with {@code backgroundCompaction(false)}, {@link
   * io.fasterkv.FasterStore#compact} does. When what is live fills the memory, operations that need
   * room end in {@link StoreException.OutOfBudget}; reads, updates in place and deletes go on, and
   * deleted records make room again. Some pages are always kept for compaction: one, and twice the
   * largest value that does not fit a page. Such a store takes no checkpoints; a cut can be
   * scanned.
   *
   * <p>A cut makes the records before it read-only, and compaction those of the page it works on.
   * An update or a delete of such a record appends a record, so that readers that follow the log
   * from the cut see it. Compaction makes the records mutable again once no cut, scan or history
   * keeps the pages. Until then, deletes of these records use the room reserved for tombstones:
   * 1/32 of the log's memory, at least a page, minus up to a page that compaction was using. When
   * that is used up, these deletes also fail with {@link StoreException.OutOfBudget} until the
   * readers are closed. Deletes of all other records never do.
   */
  public static Builder inMemory() {
    Builder builder = new Builder(null);
    builder.mutableFraction = 1;
    builder.deleteOnClose = true;
    builder.backgroundCompaction = true;
    return builder;
  }

  /** Whether the store has neither a device nor files. */
  public boolean isInMemory() {
    return directory == null;
  }

  /**
   * Where log segments and checkpoints lie.
   *
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

  /** Collects settings; a setting that is not called is derived from {@code memoryBytes}. */
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

    public Builder memoryBytes(long bytes) {
      memoryBytes = bytes;
      return this;
    }

    public Builder indexBytes(long bytes) {
      indexBytes = bytes;
      return this;
    }

    public Builder growingIndex(boolean grows) {
      growingIndex = grows;
      return this;
    }

    public Builder logHalvings(int most) {
      logHalvings = most;
      return this;
    }

    public Builder maxIndexBytes(long bytes) {
      maxIndexBytes = bytes;
      return this;
    }

    public Builder logMemoryBytes(long bytes) {
      logMemoryBytes = bytes;
      return this;
    }

    public Builder pageBytes(int bytes) {
      pageBytes = bytes;
      return this;
    }

    public Builder mutableFraction(double fraction) {
      mutableFraction = fraction;
      return this;
    }

    public Builder segmentBytes(long bytes) {
      segmentBytes = bytes;
      return this;
    }

    public Builder scratchBytes(long bytes) {
      scratchBytes = bytes;
      return this;
    }

    public Builder maxSessions(int sessions) {
      maxSessions = sessions;
      return this;
    }

    public Builder recordKind(RecordKind kind) {
      recordKind = kind;
      return this;
    }

    public Builder keyHash(KeyHash hash) {
      keyHash = hash;
      return this;
    }

    public Builder deleteOnClose(boolean delete) {
      deleteOnClose = delete;
      return this;
    }

    public Builder compactionBytesPerSecond(long bytes) {
      compactionBytesPerSecond = bytes;
      return this;
    }

    public Builder backgroundCompaction(boolean compact) {
      backgroundCompaction = compact;
      return this;
    }

    public Builder directIo(boolean direct) {
      directIo = direct;
      return this;
    }

    public Builder mappedReads(boolean map) {
      mappedReads = map;
      return this;
    }

    public Builder hugePages(boolean ask) {
      hugePages = ask;
      return this;
    }

    public Builder preallocate(boolean touch) {
      preallocate = touch;
      return this;
    }

    public Builder versionShift(VersionShift shift) {
      versionShift = shift;
      return this;
    }

    public Builder spaceWaitMillis(long millis) {
      spaceWaitMillis = millis;
      return this;
    }

    /** For a store that may be recovered from a log with keys that are not its own. */
    public Builder keyFilter(KeyFilter filter) {
      keyFilter = filter;
      return this;
    }

    /** Lets compaction drop live records. */
    public Builder keepRule(KeepRule rule) {
      keepRule = rule;
      return this;
    }

    public Builder ioKind(IoKind kind) {
      ioKind = kind;
      return this;
    }

    /** Lets RMWs of {@link MergeableFunctions} append deltas; for records of spans. */
    public Builder merge(SpanMerge merge) {
      this.merge = merge;
      return this;
    }

    /** Lets RMWs of {@link MergeableLongFunctions} append deltas; for records of longs. */
    public Builder merge(LongMerge merge) {
      this.merge = merge;
      return this;
    }

    /**
     * Derives what was left open and checks that all fits.
     *
     * @throws StoreException.BadConfig naming the setting, its value, and what is allowed
     */
    public StoreConfig build() {
      return new ConfigRules(this).resolve();
    }
  }
}

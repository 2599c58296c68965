package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.CommitListener;
import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.CompactionStats;
import io.fasterkv.api.IndexStatistics;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MemoryUse;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.RegionHits;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.Versions;
import io.fasterkv.checkpoint.CheckpointDriver;
import io.fasterkv.checkpoint.CheckpointWriter;
import io.fasterkv.checkpoint.KeptCheckpoints;
import io.fasterkv.compaction.BackgroundCompaction;
import io.fasterkv.compaction.BackgroundMemoryCompaction;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.compaction.Expiry;
import io.fasterkv.compaction.MemoryCompactor;
import io.fasterkv.device.LogDevice;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.AsyncCore;
import io.fasterkv.operation.ChainSteps;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.IndexGrowth;
import io.fasterkv.operation.IndexLoans;
import io.fasterkv.operation.IndexResizer;
import io.fasterkv.operation.LongCore;
import io.fasterkv.operation.LongPaths;
import io.fasterkv.operation.SessionCore;
import io.fasterkv.operation.SpanPaths;
import java.io.IOException;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A concurrent, latch-free key-value store whose data may be larger than memory (SIGMOD'18).
 *
 * <p>Threads work through sessions, one each. Values in the mutable tail of the log are updated in
 * place; older ones are copied to the tail when they change; the oldest lie on disk. All methods
 * are safe for all threads.
 *
 * <pre>{@code
 * StoreConfig config = StoreConfig.builder(directory).memoryBytes(1L << 30)
 *     .recordKind(RecordKind.LONGS).build();
 * try (FasterStore store = FasterStore.open(config);
 *     LongSession<Void> session = store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
 *   session.rmw(42, 1, null);
 * }
 * }</pre>
 */
public final class FasterStore implements AutoCloseable {
  private final StoreConfig config;
  private final StoreParts parts;
  private final @Nullable CheckpointDriver checkpoints;
  private final @Nullable KeptCheckpoints kept;
  private final Compactor compactor;
  private final IndexResizer resizer;
  private final @Nullable IndexGrowth growth;
  private final @Nullable IndexLoans loans;
  private final Expiry expiry;
  private final LongPaths longPaths;
  private final SpanPaths spanPaths;
  private final @Nullable MemoryCompactor memoryCompactor;
  private final @Nullable BackgroundCompaction compaction;
  private final @Nullable BackgroundMemoryCompaction memoryCompaction;
  private final ClosingGate gate;

  private FasterStore(StoreParts parts) {
    this.parts = parts;
    config = parts.config();
    gate = new ClosingGate("directory=" + (config.isInMemory() ? "none" : config.directory()));
    Engine engine = parts.engine();
    compactor = new Compactor(engine);
    resizer = new IndexResizer(engine);
    expiry = new Expiry(engine, compactor);
    longPaths = new LongPaths(engine);
    spanPaths = new SpanPaths(engine);
    boolean inBackground = config.backgroundCompaction();
    if (config.isInMemory()) {
      kept = null;
      checkpoints = null;
      compaction = null;
      memoryCompactor = new MemoryCompactor(engine, compactor);
      memoryCompaction =
          inBackground ? new BackgroundMemoryCompaction(engine, memoryCompactor) : null;
    } else {
      kept = new KeptCheckpoints(config, engine.log());
      checkpoints =
          new CheckpointDriver(
              engine, kept, new CheckpointWriter(config, engine, kept, parts.recovered()));
      compaction = inBackground ? new BackgroundCompaction(engine, compactor, config) : null;
      memoryCompactor = null;
      memoryCompaction = null;
    }
    growth =
        config.growingIndex() && resizer.canRefine(config.indexBytes())
            ? new IndexGrowth(engine, resizer, config.indexBytes(), config.logMemoryBytes())
            : null;
    loans =
        engine.log().canHalve()
            ? new IndexLoans(
                engine,
                parts.arena(),
                () -> growth == null || growth.isOver(),
                config.logHalvings())
            : null;
  }

  /**
   * Opens an empty store in the configured directory, which must not hold a checkpoint.
   *
   * @throws BadConfig if the directory holds a checkpoint: recover it, or take another directory
   */
  public static FasterStore open(StoreConfig config) {
    StoreOpening.prepareDirectory(config);
    return StoreOpening.onOwnDevice(config, device -> open(config, device));
  }

  /**
   * As {@link #open(StoreConfig)}, with the log on a device of the caller's, closed with it.
   *
   * @throws BadConfig if the store is in memory: it has no device
   */
  public static FasterStore open(StoreConfig config, LogDevice device) {
    return over(StoreOpening.empty(config, device));
  }

  /**
   * Opens a store as it was at its newest complete checkpoint.
   *
   * @throws io.fasterkv.api.StoreException.Corrupt if that checkpoint cannot be read; the message
   *     names the file and the offset. It never falls back to an older one by itself
   */
  public static FasterStore recover(StoreConfig config) {
    return recover(config, RecoveryRequest.newest());
  }

  /** Opens a store as it was at a checkpoint that is named. Later checkpoints are removed. */
  public static FasterStore recover(StoreConfig config, CheckpointToken token) {
    return recover(config, RecoveryRequest.of(token));
  }

  /** As {@link #recover(StoreConfig, CheckpointToken)}, with the log on the caller's device. */
  public static FasterStore recover(StoreConfig config, CheckpointToken token, LogDevice device) {
    return recover(config, RecoveryRequest.of(token), device);
  }

  /**
   * Opens a store as it was at a checkpoint. Later checkpoints are removed, and nothing else, once
   * all of that one has been read and found right.
   *
   * @throws io.fasterkv.api.StoreException.Corrupt if it cannot be read; the message names the file
   *     and the offset
   * @throws BadConfig if there is no such checkpoint, or it does not fit the settings
   */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request) {
    return StoreOpening.onOwnDevice(config, device -> recover(config, request, device));
  }

  /** As {@link #recover(StoreConfig, RecoveryRequest)}, with the log on the caller's device. */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request, LogDevice device) {
    return over(StoreOpening.recovered(config, request, device));
  }

  /**
   * Lets a thread copy what this store still has to read from the {@link io.fasterkv.api.LogOrigin}
   * that it was opened from; a store that was opened otherwise has nothing to copy. A piece that is
   * not what was written ends the store's writes. Called again, it does nothing.
   */
  public void copyOrigin() {
    parts.copyOrigin();
  }

  /** How many bytes {@link #copyOrigin} still has to copy; 0 if there is no origin. */
  public long bytesToCopy() {
    return parts.bytesToCopy();
  }

  private static FasterStore over(StoreParts parts) {
    FasterStore store = null;
    try {
      store = new FasterStore(parts);
      store.startBackground();
      return store;
    } catch (Throwable e) {
      if (store != null) {
        store.closeBackground();
      }
      parts.closeQuietly(e);
      throw e;
    }
  }

  /** Starts all threads or none: a thread that kept running would use freed memory. */
  private void startBackground() {
    if (compaction != null) {
      compaction.start();
    }
    if (memoryCompaction != null) {
      memoryCompaction.start();
    }
    if (growth != null) {
      growth.start();
    }
    if (loans != null) {
      loans.start();
    }
  }

  /** A session on keys and values of any length. */
  public <I, O, C> Session<I, O, C> newSession(
      StoreFunctions<I, O, C> functions, SessionMode mode) {
    return session(null, functions, mode);
  }

  /**
   * A session on keys and values of any length that has a name; see {@link SessionIdentity}.
   *
   * @throws BadConfig if it is to start and the name was there before, or is to be resumed and was
   *     not, or is open
   */
  public <I, O, C> Session<I, O, C> newSession(
      SessionIdentity identity, StoreFunctions<I, O, C> functions, SessionMode mode) {
    return session(identity, functions, mode);
  }

  private <I, O, C> Session<I, O, C> session(
      @Nullable SessionIdentity identity, StoreFunctions<I, O, C> functions, SessionMode mode) {
    checkUsable(RecordKind.SPANS);
    checkMergeable(functions instanceof MergeableFunctions, "MergeableFunctions");
    return new Session<>(SessionCore.spans(parts.engine(), identity, spanPaths, functions, mode));
  }

  /** A session on {@code long} keys and values. */
  public <C> LongSession<C> newLongSession(LongFunctions<C> functions, SessionMode mode) {
    return longSession(null, functions, mode);
  }

  /** A session on {@code long} keys and values that has a name; see {@link #newSession}. */
  public <C> LongSession<C> newLongSession(
      SessionIdentity identity, LongFunctions<C> functions, SessionMode mode) {
    return longSession(identity, functions, mode);
  }

  private <C> LongSession<C> longSession(
      @Nullable SessionIdentity identity, LongFunctions<C> functions, SessionMode mode) {
    checkUsable(RecordKind.LONGS);
    checkMergeable(functions instanceof MergeableLongFunctions, "MergeableLongFunctions");
    return new LongSession<>(LongCore.of(parts.engine(), identity, longPaths, functions, mode));
  }

  /**
   * A session whose operations return stages. What goes to disk ends on {@code executor}: it needs
   * one thread at a time for this session, and may be shared.
   */
  public <I, O, C> AsyncSession<I, O> newAsyncSession(
      StoreFunctions<I, O, C> functions, Executor executor) {
    return asyncSession(null, functions, executor);
  }

  /** As {@link #newAsyncSession}, with a name; see {@link #newSession}. */
  public <I, O, C> AsyncSession<I, O> newAsyncSession(
      SessionIdentity identity, StoreFunctions<I, O, C> functions, Executor executor) {
    return asyncSession(identity, functions, executor);
  }

  private <I, O, C> AsyncSession<I, O> asyncSession(
      @Nullable SessionIdentity identity, StoreFunctions<I, O, C> functions, Executor executor) {
    checkUsable(RecordKind.SPANS);
    checkMergeable(functions instanceof MergeableFunctions, "MergeableFunctions");
    return new AsyncSession<>(
        AsyncCore.spans(parts.engine(), identity, spanPaths, functions, executor));
  }

  /** As {@link #newAsyncSession}, on {@code long} keys and values. */
  public <C> AsyncLongSession newAsyncLongSession(LongFunctions<C> functions, Executor executor) {
    return asyncLongSession(null, functions, executor);
  }

  /** As {@link #newAsyncLongSession}, with a name; see {@link #newSession}. */
  public <C> AsyncLongSession newAsyncLongSession(
      SessionIdentity identity, LongFunctions<C> functions, Executor executor) {
    return asyncLongSession(identity, functions, executor);
  }

  private <C> AsyncLongSession asyncLongSession(
      @Nullable SessionIdentity identity, LongFunctions<C> functions, Executor executor) {
    checkUsable(RecordKind.LONGS);
    checkMergeable(functions instanceof MergeableLongFunctions, "MergeableLongFunctions");
    return new AsyncLongSession(AsyncCore.longs(parts.engine(), identity, functions, executor));
  }

  /**
   * Forgets a named session that is not open: later checkpoints do not have it, and its name may
   * start anew. Returns whether it was known.
   *
   * @throws BadConfig if it is open
   */
  public boolean forgetSession(String name) {
    checkOpen();
    return parts.engine().versions().forget(name);
  }

  /**
   * Tells {@code listener} of each checkpoint from now on, when it is durable, until what is
   * returned is closed: which operations of each named session need not be kept any more.
   *
   * @throws BadConfig if the store is in memory
   */
  public CommitListener.Registration onCommit(CommitListener listener) {
    return checkpointDriver().listen(listener);
  }

  /**
   * Makes all that was written so far immutable and returns that moment: later updates make new
   * records. Takes a few memory accesses and waits for nothing. All operations that have ended
   * before this is called are in the cut; an update in place that runs at the same time on another
   * thread may be.
   */
  public LogCut cut() {
    checkOpen();
    Engine.Cut cut = parts.engine().cut();
    return new LogCut(parts.engine(), cut.begin(), cut.end());
  }

  /**
   * Scans what the log holds now (SIGMOD'18, appendix F), without making anything read-only. Waits
   * until operations that are under way have ended; must not be called from inside one.
   */
  public LogScan scan(Versions versions) {
    return scan(0, Long.MAX_VALUE, versions);
  }

  /**
   * As {@link #scan(Versions)}, for records at {@code from} and above and below {@code until}: any
   * two addresses, as {@link LogScan#address()} or {@link #tailAddress()} give them. Who reads the
   * log in parts, each up to the end of a {@link #cut()}, sees deletes of what was in older parts,
   * also if that is gone by now.
   */
  public LogScan scan(long from, long until, Versions versions) {
    checkOpen();
    Engine engine = parts.engine();
    long begin = engine.log().holds().pin();
    try {
      long end = engine.log().tailAddress();
      engine.awaitEarlierOperations();
      ScanRange range = ScanRange.since(begin, end, from, until);
      return new LogScan(engine, range, versions, () -> engine.log().holds().unpin(begin));
    } catch (Throwable e) {
      engine.log().holds().unpin(begin);
      throw e;
    }
  }

  /** What the log still has of a key, newest first. */
  public KeyHistory history(ByteSpan key) {
    checkUsable(RecordKind.SPANS);
    return KeyHistory.of(parts.engine(), key);
  }

  /** What the log still has of a {@code long} key, newest first. */
  public KeyHistory history(long key) {
    checkUsable(RecordKind.LONGS);
    return KeyHistory.of(parts.engine(), key);
  }

  /** Follows the log from an address on as it becomes read-only. */
  public LogFollower follow(long from) {
    checkOpen();
    return new LogFollower(parts.engine(), from);
  }

  /**
   * Takes a fold-over checkpoint with the index (CPR, section 6) and returns when it is durable;
   * sessions go on in the meantime. All operations that ended before this call are in it, and of
   * each session all before some moment and none after. One at a time; waits for no session that is
   * idle: what such a session has pending is ended here, by its functions, on this thread. A store
   * that was opened from a {@link io.fasterkv.api.LogOrigin} copies all of its log first, as {@link
   * #copyOrigin} does, and this waits for that, until it is interrupted. Else an interrupt ends
   * nothing.
   *
   * @throws BadConfig if the store is in memory
   */
  public CheckpointToken checkpoint() {
    return checkpoint(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
  }

  /**
   * Takes a checkpoint of a kind, with the index or without, and returns when it is durable;
   * sessions go on in the meantime; see {@link #checkpoint()}.
   *
   * @throws BadConfig if the store is in memory
   * @throws io.fasterkv.api.StoreException.DiskFull if the disk has no space for it: the next one
   *     that succeeds has what this one would have had
   */
  public CheckpointToken checkpoint(CheckpointRequest request) {
    return gate.whileOpen(() -> checkpointDriver().take(request));
  }

  /**
   * Ends a version of the store, as {@link #checkpoint()} does, and returns it for another place
   * than the store's directory to keep. What this does is the version shift, a few rounds of
   * epochs; it waits for no disk and no session that is idle, but for a checkpoint or a resize of
   * the index that is under way. Any number of exports may be open.
   *
   * @throws BadConfig if the store is in memory
   */
  public StoreExport export() {
    return gate.whileOpen(() -> new StoreExport(checkpointDriver().export()));
  }

  private CheckpointDriver checkpointDriver() {
    checkOpen();
    if (checkpoints == null) {
      throw new BadConfig(
          "a store in memory takes no checkpoint: directory=none, allowed=a directory; open the"
              + " store with StoreConfig.builder(directory), or scan a cut and keep what it shows");
    }
    return checkpoints;
  }

  /**
   * The commit point of each named session in the checkpoint that the store was recovered from.
   * Empty for a store that was created empty.
   */
  public SortedMap<String, CommitPoint> recoveredPoints() {
    return parts.recovered().points();
  }

  /** The checkpoints that the store keeps, oldest first; each stays until it is removed. */
  public List<CheckpointToken> checkpoints() {
    checkOpen();
    return kept == null ? List.of() : kept.tokens();
  }

  /**
   * Removes a checkpoint, durably, and gives back the part of the log that only it needed. Which
   * checkpoints are kept is the caller's decision alone: nothing else removes one, except a {@link
   * #recover(StoreConfig, CheckpointToken)} to an older one.
   *
   * @throws BadConfig if the store has no such checkpoint
   */
  public void removeCheckpoint(CheckpointToken token) {
    checkOpen();
    if (kept == null) {
      throw new BadConfig(
          "a store in memory has no checkpoints: number=" + token.number() + ", allowed=none");
    }
    gate.whileOpen(() -> {
      kept.remove(token);
      return token;
    });
  }

  /**
   * Compacts what the log has on disk, now and on this thread, beside any number of sessions: live
   * records are copied to the tail, and the begin of the log moves (SIGMOD'18, appendix C). Returns
   * how many bytes the log has let go of. Storage is given back when no cut and no checkpoint needs
   * it: to shrink a store that is kept, compact it, take a checkpoint, and remove the older ones.
   * In a store in memory, all full pages are compacted, and their memory is given back to new
   * records; nothing happens while a cut, a scan or a history is open.
   */
  public long compact() {
    if (memoryCompactor != null) {
      return gate.whileOpen(memoryCompactor::compact);
    }
    return compactUntil(Long.MAX_VALUE);
  }

  /**
   * As {@link #compact()}, for what lies below {@code until}. A pass over all of the log leaves
   * copies beside what the last checkpoint needs, until that is removed; a store that takes
   * checkpoints often needs less storage if a part of the log is compacted between two of them: a
   * fifth, for one, when the log is larger than one and a half times its live bytes. Compaction in
   * the background does so by itself.
   *
   * @param until an address as {@link #beginAddress()} and {@link #tailAddress()} give them
   * @throws BadConfig if the store is in memory: it compacts page by page
   */
  public long compact(long until) {
    checkOpen();
    if (memoryCompactor != null) {
      throw new BadConfig(
          "a store in memory is not compacted in part: until=" + until + ", allowed=compact()");
    }
    return compactUntil(until);
  }

  private long compactUntil(long until) {
    return gate.whileOpen(() -> {
      long bytes = compactor.compact(until);
      compactor.cleanIndex();
      return bytes;
    });
  }

  /** What compaction has done since the store was opened. */
  public CompactionStats compactionStats() {
    checkOpen();
    return compactor.stats();
  }

  /**
   * Drops all records that lie below {@code address}, live or not: they have expired (SIGMOD'18,
   * appendix C). When this returns no operation finds them. A checkpoint that was taken before has
   * them still, and the storage below stays for it until it is removed; the same goes for a cut.
   * Records get a new address when they are updated by a copy and when they are compacted, so a
   * store whose records expire by address is not compacted. A value larger than a page lies in
   * pieces below the address of its record, and expires as a whole with the first of them: what was
   * written by operations that began when {@link #tailAddress()} was {@code address} or more stays,
   * and {@link LogScan#lowestAddress()} tells where a value that is there begins. An address in the
   * part of the log that is in memory makes it read-only first, and waits until it is flushed; so
   * this must not be called from inside an operation.
   *
   * @param address up to {@link #tailAddress()}; below {@link #beginAddress()} nothing happens
   */
  public void truncate(long address) {
    gate.whileOpen(() -> {
      expiry.truncate(address);
      if (compaction != null) {
        compaction.truncated();
      }
      return address;
    });
  }

  /** The first address of the log: what lay below was compacted or has expired. */
  public long beginAddress() {
    checkOpen();
    return parts.engine().log().beginAddress();
  }

  /** Where the next record goes to: all records written so far lie below. Only grows. */
  public long tailAddress() {
    checkOpen();
    return parts.engine().log().tailAddress();
  }

  /**
   * Bytes of log on the device: from the oldest that a checkpoint, a cut, or the store needs, up to
   * the newest that was flushed; segments below are removed as a whole. 0 for a store in memory.
   */
  public long storedBytes() {
    checkOpen();
    if (config.isInMemory()) {
      return 0;
    }
    HybridLog log = parts.engine().log();
    return log.flushedAddress() - log.holds().storedFrom();
  }

  /**
   * Doubles the hash index, now and on this thread, beside any number of sessions (SIGMOD'18,
   * appendix B): they are turned away for as long as the slowest operation under way takes, and
   * then go on; each moves what it needs of the index itself. Waits for a checkpoint under way, as
   * a checkpoint waits for this. Returns how many bytes the index has then.
   *
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the budget has no room for the new index
   *     beside the old; the store goes on with the old one. See {@code maxIndexBytes}
   */
  public long growIndex() {
    return gate.whileOpen(() -> resizer.resize(true));
  }

  /**
   * Halves the hash index, as {@link #growIndex} doubles it. Where chains of two buckets meet, this
   * may write up to 24 bytes to the log for each entry of the index.
   *
   * @throws BadConfig if the number of main buckets is odd
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the store is in memory and has no room
   *     for that; the store goes on with the old index
   */
  public long shrinkIndex() {
    return gate.whileOpen(() -> resizer.resize(false));
  }

  /**
   * Doubles or halves the hash index as often as it takes to come as near to {@code bytes} as can
   * be without being larger; returns how many bytes it has then. Memory that it has got of the
   * log's ({@code logHalvings}) counts, and is doubled or halved with it.
   */
  public long resizeIndex(long bytes) {
    return gate.whileOpen(() -> resizer.resize(bytes));
  }

  /** How full the hash index is, and how long chains are, without a scan. */
  public IndexStatistics indexStatistics() {
    checkOpen();
    IndexTable table = parts.engine().index().newestTable();
    ChainSteps.Sums steps = parts.engine().chainSteps().sums();
    return new IndexStatistics(
        table.geometry().bytes(),
        table.mainBuckets(),
        table.geometry().overflowBuckets(),
        table.overflowBucketsUsed(),
        table.entries(),
        table.saturatedChains(),
        steps.walks(),
        steps.inMemory(),
        steps.onDisk());
  }

  /** In which region of the log operations have found their keys. */
  public RegionHits regionHits() {
    checkOpen();
    return parts.engine().chainSteps().regionHits();
  }

  /** Bytes of log from its begin to its tail, in memory and on disk, live and dead. */
  public long logBytes() {
    checkOpen();
    return parts.engine().log().lengthBytes();
  }

  /**
   * How many of the {@link #logBytes} are live at least, told without a scan: what background
   * compaction found in its last pass, and new records since, less as much as may have ended. Much
   * of the log may look dead until the first pass over it, and none in a store without background
   * compaction, or in memory.
   */
  public long liveBytes() {
    checkOpen();
    return compaction == null ? logBytes() : compaction.liveBytes();
  }

  /**
   * Announces that the store is about to be closed, and ends operations that would keep it open. An
   * operation that waits for a full disk, or would have to, fails with {@link DeviceFailed}. So
   * does one that reads a part of the log that is only in the {@link io.fasterkv.api.LogOrigin},
   * which is closed. Everything else continues. Any thread may call this while others are in
   * operations that must end before sessions and store can be closed. Returns within some seconds,
   * even if the origin hangs.
   */
  public void stopWaiting() {
    parts.engine().log().waitNoMore();
    parts.stopCopying();
  }

  /** Off-heap bytes taken out of {@code memoryBytes}. */
  public long memoryBytes() {
    return parts.arena().budget().usedBytes();
  }

  /** Where the store's memory is. */
  public MemoryUse memoryUse() {
    return parts.memoryUse();
  }

  public StoreConfig config() {
    return config;
  }

  /**
   * Gives back memory and files. Waits for I/O under way, and for a checkpoint, an export, a
   * truncation or a resize of the index that another thread is at; a compaction ends early, and so
   * does a checkpoint that waits for a log that is still elsewhere. Sessions, cuts, scans,
   * histories, followers and exports must be closed before. What was not checkpointed is lost.
   *
   * @throws IllegalStateException if called by what a checkpoint or a compaction has called
   */
  @Override
  public void close() {
    if (!gate.close()) {
      return;
    }
    // If one of these throws, the others are still closed.
    try {
      endWork();
    } finally {
      closeParts();
    }
  }

  /** Ends the background threads, and waits for callers' work. */
  private void endWork() {
    try {
      stopWaiting();
      compactor.stop();
    } finally {
      try {
        closeBackground();
      } finally {
        gate.awaitWork();
      }
    }
  }

  private void closeBackground() {
    try (memoryCompaction;
        compaction;
        loans) {
      if (growth != null) {
        growth.close();
      }
    }
  }

  private void closeParts() {
    try {
      if (memoryCompactor != null) {
        memoryCompactor.close();
      }
    } finally {
      try {
        parts.close(config.deleteOnClose());
      } catch (IOException e) {
        throw new DeviceFailed("the store's device failed to close: " + e.getMessage(), e);
      }
    }
  }

  private void checkUsable(RecordKind kind) {
    checkOpen();
    if (config.recordKind() != kind) {
      throw new BadConfig(
          "the session does not fit the store's records: recordKind="
              + config.recordKind()
              + ", allowed="
              + kind);
    }
  }

  /** An updater that cannot be merged would take a delta for the value. */
  private void checkMergeable(boolean isMergeable, String allowed) {
    if (config.merge() != null && !isMergeable) {
      throw new BadConfig(
          "the store merges deltas and the session's functions make none: functions=not mergeable,"
              + " allowed="
              + allowed
              + "; implement it, or open the store without StoreConfig.Builder.merge");
    }
  }

  private void checkOpen() {
    gate.requireOpen();
  }
}

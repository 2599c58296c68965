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
 * <p>Each thread accesses the store through a session of its own. Values in the mutable region of
 * the log are updated in place; older ones are copied to the tail when they change; the oldest are
 * on disk. All methods are safe for all threads.
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
   * Opens an empty store in the configured directory, which must not contain a checkpoint.
   *
   * @param config the settings
   * @return the store
   * @throws BadConfig if the directory contains a checkpoint: recover it, or use another directory
   */
  public static FasterStore open(StoreConfig config) {
    StoreOpening.prepareDirectory(config);
    return StoreOpening.onOwnDevice(config, device -> open(config, device));
  }

  /**
   * Like {@link #open(StoreConfig)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param device stores the log; the store closes it
   * @return the store
   * @throws BadConfig if the store is in memory, where it has no device
   */
  public static FasterStore open(StoreConfig config, LogDevice device) {
    return over(StoreOpening.empty(config, device));
  }

  /**
   * Opens a store as it was at its newest complete checkpoint. Never falls back to an older one.
   *
   * @param config the settings
   * @return the store
   * @throws io.fasterkv.api.StoreException.Corrupt if that checkpoint cannot be read; the message
   *     names the file and the offset
   */
  public static FasterStore recover(StoreConfig config) {
    return recover(config, RecoveryRequest.newest());
  }

  /**
   * Opens a store as it was at a given checkpoint. Later checkpoints are removed.
   *
   * @param config the settings
   * @param token the checkpoint
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, CheckpointToken token) {
    return recover(config, RecoveryRequest.of(token));
  }

  /**
   * Like {@link #recover(StoreConfig, CheckpointToken)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param token the checkpoint
   * @param device stores the log; the store closes it
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, CheckpointToken token, LogDevice device) {
    return recover(config, RecoveryRequest.of(token), device);
  }

  /**
   * Opens a store as it was at the requested checkpoint. Once the whole checkpoint has been read
   * and verified, later checkpoints are removed, and nothing else.
   *
   * @param config the settings
   * @param request the checkpoint, and how to recover
   * @return the store
   * @throws io.fasterkv.api.StoreException.Corrupt if it cannot be read; the message names the file
   *     and the offset
   * @throws BadConfig if there is no such checkpoint, or it does not fit the settings
   */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request) {
    return StoreOpening.onOwnDevice(config, device -> recover(config, request, device));
  }

  /**
   * Like {@link #recover(StoreConfig, RecoveryRequest)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param request the checkpoint, and how to recover
   * @param device stores the log; the store closes it
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request, LogDevice device) {
    return over(StoreOpening.recovered(config, request, device));
  }

  /**
   * Starts to copy the rest of the log from the {@link io.fasterkv.api.LogOrigin} that the store
   * was opened from, in the background. Does nothing if there is no origin, or if the copy was
   * started before. If a piece fails its checksum, the store accepts no more writes.
   */
  public void copyOrigin() {
    parts.copyOrigin();
  }

  /** {@return how many bytes {@link #copyOrigin} still has to copy; 0 if there is no origin} */
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

  /** Starts all threads or none: a thread left running would access memory that was freed. */
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

  /**
   * Opens a session on keys and values of any length.
   *
   * @param <I> the input of an operation
   * @param <O> the output of a read
   * @param <C> the caller's own object for pending operations
   * @param functions the callbacks for this session alone
   * @param mode what an operation does when its record is on disk
   * @return the session
   */
  public <I, O, C> Session<I, O, C> newSession(
      StoreFunctions<I, O, C> functions, SessionMode mode) {
    return session(null, functions, mode);
  }

  /**
   * Opens a named session on keys and values of any length; see {@link SessionIdentity}.
   *
   * @param <I> the input of an operation
   * @param <O> the output of a read
   * @param <C> the caller's own object for pending operations
   * @param identity the session's name, and whether it is new or resumed
   * @param functions the callbacks for this session alone
   * @param mode what an operation does when its record is on disk
   * @return the session
   * @throws BadConfig if a new session has a known name, if a resumed one has an unknown name, or
   *     if a session of that name is open
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

  /**
   * Opens a session on {@code long} keys and values.
   *
   * @param <C> the caller's own object for pending operations
   * @param functions the callbacks
   * @param mode what an operation does when its record is on disk
   * @return the session
   */
  public <C> LongSession<C> newLongSession(LongFunctions<C> functions, SessionMode mode) {
    return longSession(null, functions, mode);
  }

  /**
   * Opens a named session on {@code long} keys and values; see {@link #newSession}.
   *
   * @param <C> the caller's own object for pending operations
   * @param identity the session's name, and whether it is new or resumed
   * @param functions the callbacks
   * @param mode what an operation does when its record is on disk
   * @return the session
   */
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
   * Opens a session whose operations return stages.
   *
   * @param <I> the input of an operation
   * @param <O> the output of a read
   * @param <C> not used
   * @param functions the callbacks for this session alone
   * @param executor completes operations that read the disk; it needs one thread at a time for this
   *     session, and may be shared
   * @return the session
   */
  public <I, O, C> AsyncSession<I, O> newAsyncSession(
      StoreFunctions<I, O, C> functions, Executor executor) {
    return asyncSession(null, functions, executor);
  }

  /**
   * Like {@link #newAsyncSession}, with a name; see {@link #newSession}.
   *
   * @param <I> the input of an operation
   * @param <O> the output of a read
   * @param <C> not used
   * @param identity the session's name, and whether it is new or resumed
   * @param functions the callbacks for this session alone
   * @param executor completes operations that read the disk
   * @return the session
   */
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

  /**
   * Like {@link #newAsyncSession}, on {@code long} keys and values.
   *
   * @param <C> not used
   * @param functions the callbacks
   * @param executor completes operations that read the disk
   * @return the session
   */
  public <C> AsyncLongSession newAsyncLongSession(LongFunctions<C> functions, Executor executor) {
    return asyncLongSession(null, functions, executor);
  }

  /**
   * Like {@link #newAsyncLongSession}, with a name; see {@link #newSession}.
   *
   * @param <C> not used
   * @param identity the session's name, and whether it is new or resumed
   * @param functions the callbacks
   * @param executor completes operations that read the disk
   * @return the session
   */
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
   * Forgets a named session that is not open. Later checkpoints do not contain it, and a new
   * session may use its name.
   *
   * @param name the session's name
   * @return whether the session was known
   * @throws BadConfig if it is open
   */
  public boolean forgetSession(String name) {
    checkOpen();
    return parts.engine().versions().forget(name);
  }

  /**
   * Notifies a listener of each later checkpoint once it is durable. The commit says which
   * operations of each named session the application no longer needs to retain.
   *
   * @param listener receives the commits, until the result is closed
   * @return close it to remove the listener
   * @throws BadConfig if the store is in memory
   */
  public CommitListener.Registration onCommit(CommitListener listener) {
    return checkpointDriver().listen(listener);
  }

  /**
   * Creates a cut: everything written so far becomes immutable, and later updates create new
   * records. This takes a few memory accesses and does not wait. All operations that ended before
   * the call are in the cut; an update in place that runs concurrently on another thread may be.
   *
   * @return the cut
   */
  public LogCut cut() {
    checkOpen();
    Engine.Cut cut = parts.engine().cut();
    return new LogCut(parts.engine(), cut.begin(), cut.end());
  }

  /**
   * Scans the current content of the log without making anything read-only (SIGMOD'18, appendix F).
   * Waits until running operations have ended, so it must not be called from inside one.
   *
   * @param versions which records to return
   * @return the scan
   */
  public LogScan scan(Versions versions) {
    return scan(0, Long.MAX_VALUE, versions);
  }

  /**
   * Like {@link #scan(Versions)}, for the records in a range of addresses. Both ends may be any
   * addresses from {@link LogScan#address()} or {@link #tailAddress()}. A reader that reads the log
   * in parts, each up to the end of a {@link #cut()}, sees the deletes of keys in older parts, even
   * if those parts have been removed by then.
   *
   * @param from the first address
   * @param until the first address after the range
   * @param versions which records to return
   * @return the scan
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

  /**
   * Returns the records of a key that are still in the log, newest first.
   *
   * @param key the key
   * @return the records
   */
  public KeyHistory history(ByteSpan key) {
    checkUsable(RecordKind.SPANS);
    return KeyHistory.of(parts.engine(), key);
  }

  /**
   * Returns the records of a {@code long} key that are still in the log, newest first.
   *
   * @param key the key
   * @return the records
   */
  public KeyHistory history(long key) {
    checkUsable(RecordKind.LONGS);
    return KeyHistory.of(parts.engine(), key);
  }

  /**
   * Follows the log from an address on, as it becomes read-only.
   *
   * @param from the first address
   * @return the follower
   */
  public LogFollower follow(long from) {
    checkOpen();
    return new LogFollower(parts.engine(), from);
  }

  /**
   * Takes a fold-over checkpoint with the index (CPR, SIGMOD'19, section 6) and returns when it is
   * durable. Sessions continue meanwhile. The checkpoint contains all operations that ended before
   * this call; of each session, it contains all operations before some moment and none after.
   * Checkpoints run one at a time.
   *
   * <p>A checkpoint does not wait for idle sessions: this thread completes their pending
   * operations, with their functions. A store that was opened from a {@link
   * io.fasterkv.api.LogOrigin} first copies its whole log, as {@link #copyOrigin} does. The call
   * waits for that copy, and an interrupt ends this wait but no other.
   *
   * @return the checkpoint's number
   * @throws BadConfig if the store is in memory
   */
  public CheckpointToken checkpoint() {
    return checkpoint(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
  }

  /**
   * Takes a checkpoint of the requested kind and returns when it is durable; see {@link
   * #checkpoint()}.
   *
   * @param request the kind, and whether to include the index
   * @return the checkpoint's number
   * @throws BadConfig if the store is in memory
   * @throws io.fasterkv.api.StoreException.DiskFull if the disk has no space for it; the next
   *     checkpoint that succeeds contains what this one would have contained
   */
  public CheckpointToken checkpoint(CheckpointRequest request) {
    return gate.whileOpen(() -> checkpointDriver().take(request));
  }

  /**
   * Ends a version of the store, as {@link #checkpoint()} does, and returns it for storage outside
   * the store's directory. The call performs only the version shift, a few rounds of epochs. It
   * does not wait for the disk or for idle sessions, but it does wait for a running checkpoint or a
   * resize of the index. Any number of exports may be open.
   *
   * @return the export
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
   * {@return for each named session of the checkpoint that the store was recovered from, which of
   * its operations are in the store; empty if the store was not recovered}
   */
  public SortedMap<String, CommitPoint> recoveredPoints() {
    return parts.recovered().points();
  }

  /**
   * {@return the checkpoints that the store keeps, oldest first; each stays until it is removed}
   */
  public List<CheckpointToken> checkpoints() {
    checkOpen();
    return kept == null ? List.of() : kept.tokens();
  }

  /**
   * Removes a checkpoint durably, and frees the part of the log that only it needed. The caller
   * alone decides which checkpoints are kept: nothing else removes one, except a {@link
   * #recover(StoreConfig, CheckpointToken)} to an older one.
   *
   * @param token the checkpoint
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
   * Compacts the part of the log that is on disk, on this thread, beside any number of sessions. It
   * copies live records to the tail and moves the begin address (SIGMOD'18, appendix C). Storage is
   * freed once no cut and no checkpoint needs it. To shrink a store with checkpoints, compact it,
   * take a checkpoint, and remove the older ones. A store in memory compacts all full pages and
   * reuses their memory for new records; it does nothing while a cut, a scan or a history is open.
   *
   * @return how many bytes the log has shrunk
   */
  public long compact() {
    if (memoryCompactor != null) {
      return gate.whileOpen(memoryCompactor::compact);
    }
    return compactUntil(Long.MAX_VALUE);
  }

  /**
   * Like {@link #compact()}, for the log below an address. Compacting the whole log leaves copies
   * beside the data that the last checkpoint needs, until that checkpoint is removed. A store that
   * takes checkpoints often needs less storage if it compacts a part of the log between two of
   * them: for example a fifth, when the log is larger than one and a half times its live bytes.
   * Background compaction does this by itself.
   *
   * @param until an address between {@link #beginAddress()} and {@link #tailAddress()}
   * @return how many bytes the log has shrunk
   * @throws BadConfig if the store is in memory, which compacts page by page
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

  /** {@return what compaction has done since the store was opened} */
  public CompactionStats compactionStats() {
    checkOpen();
    return compactor.stats();
  }

  /**
   * Drops all records below an address, live or not (SIGMOD'18, appendix C). Use it for records
   * that expire by age. After it returns, no operation finds them. Checkpoints and cuts that were
   * taken before still contain them, and keep their storage until they are removed or closed.
   *
   * <p>A record gets a new address when an update or a compaction copies it, so do not compact a
   * store whose records expire by address. A value larger than a page is stored in pieces below the
   * address of its record, and expires as a whole with the first piece. Records of operations that
   * began when {@link #tailAddress()} was {@code address} or more stay. {@link
   * LogScan#lowestAddress()} tells where an existing value begins.
   *
   * <p>If the address is in the part of the log that is in memory, the call first makes the log
   * read-only up to it and waits until it is flushed. It must therefore not be called from inside
   * an operation.
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

  /** {@return the begin address: everything below was compacted or truncated} */
  public long beginAddress() {
    checkOpen();
    return parts.engine().log().beginAddress();
  }

  /**
   * {@return the tail address, where the next record is appended; all records so far are below it.
   * It only grows}
   */
  public long tailAddress() {
    checkOpen();
    return parts.engine().log().tailAddress();
  }

  /**
   * Returns how many bytes of log are on the device: from the oldest that a checkpoint, a cut, or
   * the store needs, to the newest flushed one. Segments below are removed as a whole.
   *
   * @return the number of bytes; 0 for a store in memory
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
   * Doubles the hash index, on this thread, beside any number of sessions (SIGMOD'18, appendix B).
   * Sessions pause for as long as the slowest running operation takes, and then continue; each
   * moves the parts of the index that it needs. Waits for a running checkpoint, and checkpoints
   * wait for this.
   *
   * @return the new size of the index, in bytes
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the budget has no room for the new index
   *     beside the old one; the store keeps the old index. See {@code maxIndexBytes}
   */
  public long growIndex() {
    return gate.whileOpen(() -> resizer.resize(true));
  }

  /**
   * Halves the hash index, in the way that {@link #growIndex} doubles it. Where the chains of two
   * buckets meet, it may write up to 24 bytes to the log for each entry of the index.
   *
   * @return the new size of the index, in bytes
   * @throws BadConfig if the number of main buckets is odd
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the store is in memory and has no room
   *     for that; the store keeps the old index
   */
  public long shrinkIndex() {
    return gate.whileOpen(() -> resizer.resize(false));
  }

  /**
   * Doubles or halves the hash index until its size is as close to a target as possible without
   * exceeding it. Memory that the index received from the log ({@code logHalvings}) counts, and is
   * doubled or halved with the rest.
   *
   * @param bytes the target
   * @return the new size of the index, in bytes
   */
  public long resizeIndex(long bytes) {
    return gate.whileOpen(() -> resizer.resize(bytes));
  }

  /** {@return how full the hash index is, and how long its chains are; no scan is needed} */
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

  /** {@return in which region of the log operations have found their keys} */
  public RegionHits regionHits() {
    checkOpen();
    return parts.engine().chainSteps().regionHits();
  }

  /** {@return the bytes of log from its begin to its tail, in memory and on disk, live and dead} */
  public long logBytes() {
    checkOpen();
    return parts.engine().log().lengthBytes();
  }

  /**
   * Returns a lower bound for how many of the {@link #logBytes} are live, without a scan: what the
   * last background compaction found, plus new records since then, less what may have died. Before
   * the first compaction run over the whole log, the number may be far too low. Without background
   * compaction, and in memory, it equals {@link #logBytes}.
   *
   * @return the number of bytes
   */
  public long liveBytes() {
    checkOpen();
    return compaction == null ? logBytes() : compaction.liveBytes();
  }

  /**
   * Announces that the store will be closed, so that no operation delays the closing. An operation
   * that waits for a full disk, or would have to, throws {@link DeviceFailed}. So does one that
   * reads data that is only in the {@link io.fasterkv.api.LogOrigin}; the call closes the origin.
   * Everything else continues. Call it from any thread while other threads are in operations that
   * must end before sessions and store can be closed. Returns within some seconds, even if the
   * origin hangs.
   */
  public void stopWaiting() {
    parts.engine().log().waitNoMore();
    parts.stopCopying();
  }

  /** {@return the off-heap memory in use, in bytes, out of {@code memoryBytes}} */
  public long memoryBytes() {
    return parts.arena().budget().usedBytes();
  }

  /** {@return how the store's memory is divided} */
  public MemoryUse memoryUse() {
    return parts.memoryUse();
  }

  /** {@return the store's settings} */
  public StoreConfig config() {
    return config;
  }

  /**
   * Closes the store and frees its memory and files. Everything written since the last checkpoint
   * is lost. Waits for I/O in progress, and for a checkpoint, an export, a truncation or a resize
   * of the index on another thread. A compaction ends early, and so does a checkpoint that waits
   * for a log that is still at its origin. Close sessions, cuts, scans, histories, followers and
   * exports first.
   *
   * @throws IllegalStateException if called from inside a callback of a checkpoint or a compaction
   * @throws DeviceFailed if the device cannot be closed or its files cannot be deleted
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

  /** An updater that is not mergeable would mistake a delta for the value. */
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

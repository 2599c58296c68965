package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import io.fasterkv.flink.key.KeySpace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy.SnapshotResultSupplier;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes those files of an incremental checkpoint that no earlier one has, several at a time. If an
 * earlier checkpoint has a file that this one may not refer to, the storage copies it if it can.
 */
final class IncrementalUpload implements SnapshotResultSupplier<KeyedStateHandle> {
  private static final Logger LOG = LoggerFactory.getLogger(IncrementalUpload.class);

  /** Files end at its multiples, so that compaction frees whole files. */
  private static final long MOST_FILE_BYTES = 64L << 20;

  private final IncrementalSnapshot snapshot;
  private final UploadPlan plan;
  private final KeySpace<?> keys;
  private final SharedLog log;
  private final LocalRecoveryConfig recovery;

  private final FileWriters writers;

  IncrementalUpload(
      IncrementalSnapshot snapshot,
      UploadPlan plan,
      KeySpace<?> keys,
      SharedLog log,
      LocalRecoveryConfig recovery) {
    this.snapshot = snapshot;
    this.plan = plan;
    this.keys = keys;
    this.log = log;
    this.recovery = recovery;
    writers = new FileWriters("faster-upload-" + plan.checkpointId(), snapshot.cancellation());
  }

  @Override
  public SnapshotResult<KeyedStateHandle> get(CloseableRegistry registry) throws Exception {
    boolean isDone = false;
    try {
      registry.registerCloseable(writers);
      SnapshotResult<KeyedStateHandle> result = upload();
      isDone = true;
      return result;
    } finally {
      if (!isDone) {
        log.history().abort(plan.checkpointId());
        writers.discard();
      }
    }
  }

  private SnapshotResult<KeyedStateHandle> upload() throws Exception {
    StoreExport export = snapshot.export();
    export.awaitWritten();
    List<LogPiece> pieces = export.pieces(0);
    List<LogFile> known = needed(plan.usable(), pieces);
    List<LogFile> files = new ArrayList<>(writeLog(pieces, known));
    SnapshotResult<StreamStateHandle> meta = writeMeta();
    long bytes = meta.getStateSize();
    for (LogFile file : files) {
      bytes += file.handle().getStateSize();
    }
    files.addAll(known);
    files.sort(Comparator.comparingLong(LogFile::from));
    List<HandleAndLocalPath> shared = new ArrayList<>();
    Set<LogFile> knownFiles = Set.copyOf(known);
    for (LogFile file : files) {
      shared.add(knownFiles.contains(file) ? file.known() : file.named());
    }
    if (plan.isShared()) {
      log.history().put(plan.checkpointId(), files);
    }
    plan.streams().reusePreviousStateHandle(known.stream().map(LogFile::handle).toList());
    LOG.debug(
        "wrote an incremental checkpoint: checkpoint={}, bytes={}, files={}, of them known={}",
        plan.checkpointId(),
        bytes,
        files.size(),
        known.size());
    KeyedStateHandle remote =
        new IncrementalRemoteKeyedStateHandle(
            log.name(),
            keys.range(),
            plan.checkpointId(),
            shared,
            List.of(),
            meta.getJobManagerOwnedSnapshot(),
            bytes);
    KeyedStateHandle here = localHandle(files, meta.getTaskLocalSnapshot());
    if (here != null) {
      writers.own(here);
    }
    // The result of a cancelled future is lost, together with its files.
    snapshot.cancellation().check();
    return here == null ? SnapshotResult.of(remote) : SnapshotResult.withLocalState(remote, here);
  }

  /**
   * Writes the parts of the log that no earlier checkpoint has: the longest files first, so that
   * the streams end together.
   */
  private List<LogFile> writeLog(List<LogPiece> pieces, List<LogFile> known) throws Exception {
    Queue<LogFile> written = new ConcurrentLinkedQueue<>();
    List<FileWriters.Job> jobs = new ArrayList<>();
    List<LogFile> copied = needed(plan.copyable(), pieces);
    if (!copied.isEmpty()) {
      jobs.add(() -> written.addAll(copy(copied)));
    }
    List<LogFile> present = new ArrayList<>(known);
    present.addAll(copied);
    present.sort(Comparator.comparingLong(LogFile::from));
    List<List<LogPiece>> runs = runs(pieces, present);
    runs.sort(Comparator.comparingLong(IncrementalUpload::bytes).reversed());
    try (FileDigests digests = new FileDigests(snapshot.export(), snapshot.cancellation())) {
      for (List<LogPiece> run : runs) {
        jobs.add(() -> written.add(file(run, digests.of())));
      }
      writers.run(jobs, plan.mostStreams());
    }
    return List.copyOf(written);
  }

  private SnapshotResult<StreamStateHandle> writeMeta() throws Exception {
    AtomicReference<SnapshotResult<StreamStateHandle>> written = new AtomicReference<>();
    FileWriters.Opening opening =
        () -> ExclusiveStream.open(recovery, !plan.isShared(), plan.checkpointId(), plan.streams());
    writers.run(List.of(() -> written.set(writers.write(opening, this::writeMeta))), 1);
    return Objects.requireNonNull(written.get());
  }

  /** What is kept on this machine too; null if nothing is, or if that fails. */
  private @Nullable KeyedStateHandle localHandle(
      List<LogFile> files, @Nullable StreamStateHandle localMeta) {
    LocalSnapshotDirectoryProvider directories =
        recovery.getLocalStateDirectoryProvider().orElse(null);
    if (directories == null || localMeta == null) {
      return null;
    }
    if (!snapshot.export().isWhole()) {
      LOG.info(
          "a checkpoint is not kept on this machine, since its log is still being copied from where"
              + " it was restored: checkpoint={}",
          plan.checkpointId());
      StateUtil.discardStateObjectQuietly(localMeta);
      return null;
    }
    Path directory =
        directories
            .subtaskSpecificCheckpointDirectory(plan.checkpointId())
            .toPath()
            .resolve(log.name().toString());
    try {
      return new IncrementalLocalKeyedStateHandle(
          log.name(),
          plan.checkpointId(),
          LocalCopy.make(snapshot.export(), directory),
          keys.range(),
          localMeta,
          files.stream().map(LogFile::named).toList());
    } catch (IOException failure) {
      LOG.warn(
          "a checkpoint is not kept on this machine, only where all checkpoints are: checkpoint={},"
              + " directory={}",
          plan.checkpointId(),
          directory,
          failure);
      StateUtil.discardStateObjectQuietly(localMeta);
      return null;
    }
  }

  /** The files among these that have pieces of the log. */
  private static List<LogFile> needed(List<LogFile> files, List<LogPiece> pieces) {
    return pieces.isEmpty()
        ? List.of()
        : files.stream().filter(file -> file.until() > pieces.getFirst().from()).toList();
  }

  private static long bytes(List<LogPiece> run) {
    return run.getLast().until() - run.getFirst().from();
  }

  private static boolean has(LogFile file, LogPiece piece) {
    return file.from() <= piece.from() && piece.until() <= file.until();
  }

  /** The pieces that no file has, cut into what one file takes. */
  private static List<List<LogPiece>> runs(List<LogPiece> pieces, List<LogFile> files) {
    List<List<LogPiece>> runs = new ArrayList<>();
    List<LogPiece> run = new ArrayList<>();
    int next = 0;
    for (LogPiece piece : pieces) {
      while (next < files.size() && files.get(next).until() <= piece.from()) {
        next++;
      }
      boolean isThere = next < files.size() && has(files.get(next), piece);
      boolean isOther =
          !run.isEmpty()
              && run.getFirst().from() / MOST_FILE_BYTES != piece.from() / MOST_FILE_BYTES;
      if (isThere || isOther) {
        add(run, runs);
        run = new ArrayList<>();
      }
      if (!isThere) {
        run.add(piece);
      }
    }
    add(run, runs);
    return runs;
  }

  private static void add(List<LogPiece> run, List<List<LogPiece>> runs) {
    if (!run.isEmpty()) {
      runs.add(run);
    }
  }

  private LogFile file(List<LogPiece> run, ShortDigest digest) throws Exception {
    SnapshotResult<StreamStateHandle> handle =
        writers.write(
            () ->
                CheckpointStreamWithResultProvider.createSimpleStream(plan.scope(), plan.streams()),
            out ->
                LogFileFormat.write(
                    run,
                    new PieceParts(snapshot.export(), out, snapshot.cancellation()),
                    digest,
                    out));
    return new LogFile(
        run.getFirst().from(), run.getLast().until(), handle.getJobManagerOwnedSnapshot());
  }

  /** Lets the storage copy files, which does not use the bandwidth of this machine. */
  private List<LogFile> copy(List<LogFile> files) throws IOException {
    List<StreamStateHandle> handles =
        plan.streams().duplicate(files.stream().map(LogFile::handle).toList(), plan.scope());
    writers.own(handles);
    List<LogFile> copies = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      copies.add(new LogFile(files.get(i).from(), files.get(i).until(), handles.get(i)));
    }
    return copies;
  }

  private void writeMeta(OutputStream out) throws IOException {
    CheckpointMeta.write(
        snapshot.export().head(),
        log.stored().from(snapshot.export().beginAddress()),
        snapshot.inStore(),
        snapshot.nextIdentity(),
        snapshot.timed(),
        snapshot.states(),
        keys.serializer(),
        out);
    HeapTimerBlocks.write(snapshot.timers(), keys, out, snapshot.cancellation());
  }
}

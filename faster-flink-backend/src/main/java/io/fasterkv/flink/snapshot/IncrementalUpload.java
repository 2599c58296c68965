package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import io.fasterkv.flink.key.KeySpace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the files of one incremental checkpoint that no earlier one has. */
final class IncrementalUpload implements SnapshotResultSupplier<KeyedStateHandle> {
  private static final Logger LOG = LoggerFactory.getLogger(IncrementalUpload.class);

  /** A file ends at a multiple of it, so that what compaction gives back are whole files. */
  private static final long MOST_FILE_BYTES = 64L << 20;

  private final IncrementalSnapshot snapshot;
  private final UploadPlan plan;
  private final KeySpace<?> keys;
  private final SharedLog log;
  private final LocalRecoveryConfig recovery;

  /** What is discarded if the checkpoint fails. */
  private final List<StateObject> written = new ArrayList<>();

  private long writtenBytes;

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
  }

  @Override
  public SnapshotResult<KeyedStateHandle> get(CloseableRegistry registry) throws Exception {
    registry.registerCloseable(snapshot.cancellation());
    boolean isDone = false;
    try {
      SnapshotResult<KeyedStateHandle> result = upload(registry);
      isDone = true;
      return result;
    } finally {
      if (!isDone) {
        log.history().abort(plan.checkpointId());
        StateUtil.bestEffortDiscardAllStateObjects(written);
      }
    }
  }

  private SnapshotResult<KeyedStateHandle> upload(CloseableRegistry registry) throws Exception {
    StoreExport export = snapshot.export();
    export.awaitWritten();
    List<LogPiece> pieces = export.pieces(0);
    List<LogFile> known = needed(pieces);
    List<LogFile> files = new ArrayList<>(known);
    for (List<LogPiece> run : runs(pieces, known)) {
      files.add(file(export, run, registry));
    }
    files.sort((left, right) -> Long.compare(left.from(), right.from()));
    SnapshotResult<StreamStateHandle> meta =
        write(
            ExclusiveStream.open(recovery, !plan.isShared(), plan.checkpointId(), plan.streams()),
            this::writeMeta,
            registry);
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
        writtenBytes,
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
            writtenBytes);
    KeyedStateHandle here = localHandle(files, meta.getTaskLocalSnapshot());
    if (here != null) {
      written.add(here);
    }
    // Nobody would take the result, and own its files.
    snapshot.cancellation().check();
    return here == null ? SnapshotResult.of(remote) : SnapshotResult.withLocalState(remote, here);
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

  /** Those of the usable files that have pieces of the log. */
  private List<LogFile> needed(List<LogPiece> pieces) {
    return pieces.isEmpty()
        ? List.of()
        : plan.usable().stream().filter(file -> file.until() > pieces.getFirst().from()).toList();
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

  private LogFile file(StoreExport export, List<LogPiece> run, CloseableRegistry registry)
      throws Exception {
    SnapshotResult<StreamStateHandle> handle =
        write(
            CheckpointStreamWithResultProvider.createSimpleStream(plan.scope(), plan.streams()),
            out -> LogFileFormat.write(export, run, out, snapshot.cancellation()),
            registry);
    return new LogFile(
        run.getFirst().from(), run.getLast().until(), handle.getJobManagerOwnedSnapshot());
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

  private SnapshotResult<StreamStateHandle> write(
      CheckpointStreamWithResultProvider to,
      ThrowingConsumer<OutputStream, Exception> content,
      CloseableRegistry registry)
      throws Exception {
    registry.registerCloseable(to);
    try {
      content.accept(to.getCheckpointOutputStream());
      if (!registry.unregisterCloseable(to)) {
        throw new IOException("the snapshot was cancelled while its files were written");
      }
      SnapshotResult<StreamStateHandle> result = to.closeAndFinalizeCheckpointStreamResult();
      written.add(result);
      writtenBytes += result.getStateSize();
      return result;
    } finally {
      if (registry.unregisterCloseable(to)) {
        IOUtils.closeQuietly(to);
      }
    }
  }
}

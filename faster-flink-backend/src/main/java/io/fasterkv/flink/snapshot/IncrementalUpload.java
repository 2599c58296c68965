package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
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

/**
 * Writes those files of an incremental checkpoint that no earlier checkpoint has, several at a
 * time. If an earlier checkpoint has a file that this one may not refer to, the storage copies it
 * if it can.
 */
final class IncrementalUpload implements SnapshotResultSupplier<KeyedStateHandle> {
  private final IncrementalSnapshot snapshot;
  private final UploadPlan plan;
  private final KeySpace<?> keys;
  private final SharedLog log;
  private final HeadCompaction head;
  private final LocalRecoveryConfig recovery;
  private final boolean isCompressed;
  private final Logger logger;
  private final FileWriters writers;

  IncrementalUpload(
      IncrementalSnapshot snapshot,
      UploadPlan plan,
      KeySpace<?> keys,
      SharedLog log,
      HeadCompaction head,
      LocalStore local) {
    this.snapshot = snapshot;
    this.plan = plan;
    this.keys = keys;
    this.log = log;
    this.head = head;
    recovery = local.recovery();
    isCompressed = local.compressed();
    logger = local.logger();
    String name = "faster-upload-" + plan.checkpointId();
    writers = new FileWriters(name, snapshot.cancellation(), logger);
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
    FilePlan planned = FilePlan.of(pieces, existing(), export.isWhole());
    if (plan.isShared() && export.isWhole()) {
      head.run(HeadCompaction.Span.of(planned), snapshot.cancellation());
    }
    List<LogFile> known = planned.kept().stream().filter(plan.usable()::contains).toList();
    List<LogFile> files = new ArrayList<>(writeLog(planned));
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
    logger.log(
        Level.DEBUG,
        "wrote an incremental checkpoint: checkpoint="
            + plan.checkpointId()
            + ", bytes="
            + bytes
            + ", files="
            + files.size()
            + ", reusedFiles="
            + known.size());
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
    // The result of a cancelled future is lost, and its files with it.
    snapshot.cancellation().check();
    return here == null ? SnapshotResult.of(remote) : SnapshotResult.withLocalState(remote, here);
  }

  /** Files that the checkpoint may use, in the order of their addresses. */
  private List<LogFile> existing() {
    return Stream.concat(plan.usable().stream(), plan.copyable().stream())
        .sorted(Comparator.comparingLong(LogFile::from))
        .toList();
  }

  /**
   * Writes the parts of the log that no earlier checkpoint has: the longest files first, so that
   * the streams end together.
   */
  private List<LogFile> writeLog(FilePlan planned) throws Exception {
    Queue<LogFile> written = new ConcurrentLinkedQueue<>();
    List<FileWriters.Job> jobs = new ArrayList<>();
    List<LogFile> copied = planned.kept().stream().filter(plan.copyable()::contains).toList();
    if (!copied.isEmpty()) {
      jobs.add(() -> written.addAll(copy(copied)));
    }
    List<List<LogPiece>> runs = new ArrayList<>(planned.runs());
    runs.sort(Comparator.comparingLong(FilePlan::bytes).reversed());
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

  /** The local copy; null if there is none, or if making it fails. */
  private @Nullable KeyedStateHandle localHandle(
      List<LogFile> files, @Nullable StreamStateHandle localMeta) {
    LocalSnapshotDirectoryProvider directories =
        recovery.getLocalStateDirectoryProvider().orElse(null);
    if (directories == null || localMeta == null) {
      return null;
    }
    if (!snapshot.export().isWhole()) {
      logger.log(
          Level.INFO,
          "a checkpoint has no local copy, because the log is still being copied from the restored"
              + " checkpoint: checkpoint="
              + plan.checkpointId());
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
      logger.log(
          Level.WARNING,
          "a local copy cannot be made; the checkpoint is in checkpoint storage only: checkpoint="
              + plan.checkpointId()
              + ", directory="
              + directory,
          failure);
      StateUtil.discardStateObjectQuietly(localMeta);
      return null;
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
                    new PieceParts(
                        snapshot.export(),
                        out,
                        snapshot.cancellation(),
                        isCompressed ? new BlockPacker() : null),
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
        snapshot.nextIncarnation(),
        snapshot.timed(),
        snapshot.states(),
        keys.serializer(),
        out);
    HeapTimerBlocks.write(snapshot.timers(), keys, out, snapshot.cancellation());
  }
}

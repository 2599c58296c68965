package io.fasterkv.flink.restore;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.snapshot.Blocks;
import io.fasterkv.flink.snapshot.CheckpointMeta;
import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.LogFileFormat;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StreamPool;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.jspecify.annotations.Nullable;

/**
 * One handle of an incremental checkpoint, with its metadata.
 *
 * @param handle the handle
 * @param meta from its meta file
 * @param log the head of its log
 * @param files the files of the log that are needed, in the order of their addresses
 */
record IncrementalSource(
    IncrementalKeyedStateHandle handle, CheckpointMeta meta, StoreImport log, List<LogFile> files) {

  static IncrementalSource read(
      IncrementalKeyedStateHandle handle, ClassLoader userClasses, OpenStreams streams)
      throws IOException {
    try (Blocks.In in = new Blocks.In(handle.getMetaDataStateHandle(), streams)) {
      String place = in.place();
      CheckpointMeta meta = CheckpointMeta.read(in, userClasses);
      StoreImport log = FasterStore.readExport(meta.head(), place);
      return new IncrementalSource(handle, meta, log, files(handle, log));
    }
  }

  private static List<LogFile> files(IncrementalKeyedStateHandle handle, StoreImport log)
      throws IOException {
    List<LogFile> files = new ArrayList<>();
    for (HandleAndLocalPath named : handle.getSharedStateHandles()) {
      LogFile file = LogFile.of(named);
      if (file == null) {
        throw new IOException(
            "a file of a checkpoint is none of this backend's: name=" + named.getLocalPath());
      }
      if (file.until() > log.beginAddress()) {
        files.add(file);
      }
    }
    files.sort((left, right) -> Long.compare(left.from(), right.from()));
    return files;
  }

  /** The log's directory on this machine, or null. */
  @Nullable Path localDirectory() {
    return handle instanceof IncrementalLocalKeyedStateHandle here
        ? here.getDirectoryStateHandle().getDirectory()
        : null;
  }

  KeyGroupRange range() {
    return handle.getKeyGroupRange();
  }

  /** Number of the subtask's key groups in this handle. */
  int groupsOf(KeyGroupRange own) {
    return range().getIntersection(own).getNumberOfKeyGroups();
  }

  /**
   * Passes the log's pieces to the visitor, in the order of their addresses.
   *
   * @param from the log's begin address, or the start of a file
   */
  void read(long from, RestoreScope scope, StreamPool streams, LogFileFormat.Visitor visitor)
      throws IOException {
    long at = from;
    for (LogFile file : files) {
      if (file.until() <= from) {
        continue;
      }
      if (file.from() > at) {
        throw gap(at);
      }
      at = file.until();
      LogFileFormat.read(
          file,
          log.pageBytes(),
          streams,
          (piece, bytes, place) -> {
            scope.check();
            visitor.visit(piece, bytes, place);
          });
    }
    if (at != log.endAddress()) {
      throw gap(at);
    }
  }

  private IOException gap(long at) {
    return new IOException(
        "a checkpoint lacks a part of its log: from="
            + at
            + ", begin="
            + log.beginAddress()
            + ", end="
            + log.endAddress()
            + ", handle="
            + handle);
  }
}

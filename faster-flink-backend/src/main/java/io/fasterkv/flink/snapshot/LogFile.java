package io.fasterkv.flink.snapshot;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * A file with a part of a store's log, which several checkpoints may share.
 *
 * @param from first address
 * @param until first address after it
 * @param handle the file
 */
public record LogFile(long from, long until, StreamStateHandle handle) {
  private static final Pattern NAME = Pattern.compile("log-([0-9a-f]{12})-([0-9a-f]{12})");

  /** Parses the name of a handle; returns null if the name is not that of a log file. */
  public static @Nullable LogFile of(HandleAndLocalPath named) {
    Matcher name = NAME.matcher(named.getLocalPath());
    return name.matches()
        ? new LogFile(
            HexFormat.fromHexDigitsToLong(name.group(1)),
            HexFormat.fromHexDigitsToLong(name.group(2)),
            named.getHandle())
        : null;
  }

  /** Length of its part of the log. */
  long bytes() {
    return until - from;
  }

  /** The handle for a receiver that keeps the file. */
  HandleAndLocalPath named() {
    return HandleAndLocalPath.of(handle, name());
  }

  /**
   * The handle for a JobManager that knows the file from an earlier checkpoint. Discarding this
   * handle does nothing, so a failed checkpoint does not delete another checkpoint's file.
   */
  HandleAndLocalPath known() {
    return HandleAndLocalPath.of(
        new PlaceholderStreamStateHandle(
            handle.getStreamStateHandleID(),
            handle.getStateSize(),
            FileMergingSnapshotManager.isFileMergingHandle(handle)),
        name());
  }

  private String name() {
    HexFormat hex = HexFormat.of();
    return "log-" + hex.toHexDigits(from, 12) + "-" + hex.toHexDigits(until, 12);
  }
}

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
 * A part of a store's log in a file of its own, which checkpoints share.
 *
 * @param from first address
 * @param until first address after it
 * @param handle the file
 */
public record LogFile(long from, long until, StreamStateHandle handle) {
  private static final Pattern NAME = Pattern.compile("log-([0-9a-f]{12})-([0-9a-f]{12})");

  /** What a handle names, or null if its name is not one of ours. */
  public static @Nullable LogFile of(HandleAndLocalPath named) {
    Matcher name = NAME.matcher(named.getLocalPath());
    return name.matches()
        ? new LogFile(
            HexFormat.fromHexDigitsToLong(name.group(1)),
            HexFormat.fromHexDigitsToLong(name.group(2)),
            named.getHandle())
        : null;
  }

  /** For who has the file to keep. */
  HandleAndLocalPath named() {
    return HandleAndLocalPath.of(handle, name());
  }

  /**
   * For the JobManager, which knows the file of an earlier checkpoint. Discarding it does nothing,
   * so a checkpoint that fails takes no file with it that another one has.
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

package io.fasterkv.flink.restore;

import io.fasterkv.flink.snapshot.OpenStreams;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A file whose streams are registered, for Flink's reader of full snapshots, which registers none.
 * It is used by one restore and never serialized or discarded.
 */
final class RegisteredHandle implements StreamStateHandle {
  private static final long serialVersionUID = 1L;

  private final StreamStateHandle file;
  private final transient OpenStreams streams;

  private RegisteredHandle(StreamStateHandle file, OpenStreams streams) {
    this.file = file;
    this.streams = streams;
  }

  /**
   * Returns the handle with its file registered if it belongs to a full snapshot; otherwise the
   * handle itself.
   */
  static KeyedStateHandle of(KeyedStateHandle handle, OpenStreams streams) {
    return switch (handle) {
      case KeyGroupsSavepointStateHandle savepoint ->
          new KeyGroupsSavepointStateHandle(
              savepoint.getGroupRangeOffsets(),
              new RegisteredHandle(savepoint.getDelegateStateHandle(), streams));
      case KeyGroupsStateHandle groups ->
          new KeyGroupsStateHandle(
              groups.getGroupRangeOffsets(),
              new RegisteredHandle(groups.getDelegateStateHandle(), streams));
      default -> handle;
    };
  }

  @Override
  public FSDataInputStream openInputStream() throws IOException {
    return streams.open(file::openInputStream);
  }

  @Override
  public Optional<byte[]> asBytesIfInMemory() {
    return file.asBytesIfInMemory();
  }

  @Override
  public PhysicalStateHandleID getStreamStateHandleID() {
    return file.getStreamStateHandleID();
  }

  @Override
  public long getStateSize() {
    return file.getStateSize();
  }

  /** Does nothing: the file belongs to the checkpoint. */
  @Override
  public void discardState() {}

  @Override
  public String toString() {
    return file.toString();
  }
}

package io.fasterkv.flink.snapshot;

import java.io.IOException;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A stream that Flink writes and closes. It is registered here until it is closed: Flink's own
 * registry has it only while it is written, and waits forever if its close hangs.
 */
final class RegisteredStream implements CheckpointStreamWithResultProvider {
  private final OpenStreams open;
  private final CheckpointStreamWithResultProvider stream;

  /** Opens the stream and registers it in {@code open}. */
  RegisteredStream(
      OpenStreams open, OpenStreams.Opening<CheckpointStreamWithResultProvider> opening)
      throws IOException {
    this.open = open;
    stream = open.open(opening);
  }

  @Override
  public CheckpointStateOutputStream getCheckpointOutputStream() {
    return stream.getCheckpointOutputStream();
  }

  @Override
  public SnapshotResult<StreamStateHandle> closeAndFinalizeCheckpointStreamResult()
      throws IOException {
    SnapshotResult<StreamStateHandle> result;
    try {
      result = stream.closeAndFinalizeCheckpointStreamResult();
    } catch (Throwable failure) {
      close();
      throw failure;
    }
    if (!open.release(stream)) {
      StateUtil.discardStateObjectQuietly(result);
      throw new IOException("the snapshot was cancelled while its file was closed");
    }
    return result;
  }

  /** Closes the stream; on another thread if closing hangs. */
  @Override
  public void close() {
    open.close();
  }
}

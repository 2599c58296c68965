package io.fasterkv.flink.snapshot;

import io.fasterkv.FasterStore;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.util.ResourceGuard;

/**
 * The store of one operator's subtask and its local means. Safe for use by all threads.
 *
 * @param store the store
 * @param directory where sort files are put; removed with the store
 * @param sortBufferBytes heap that one snapshot or listing sorts with
 * @param uploadStreams how many files of one checkpoint are written at a time
 * @param guard keeps the store open while it is held
 * @param recovery whether, and where, checkpoints are kept on this machine too
 * @param scanTurn held by whoever scans the log, one at a time, since each scan takes a page of the
 *     store's scratch memory, which the task's own reads need too
 */
public record LocalStore(
    FasterStore store,
    Path directory,
    int sortBufferBytes,
    int uploadStreams,
    LocalRecoveryConfig recovery,
    ResourceGuard guard,
    Semaphore scanTurn) {

  public LocalStore(
      FasterStore store,
      Path directory,
      int sortBufferBytes,
      int uploadStreams,
      LocalRecoveryConfig recovery) {
    this(
        store,
        directory,
        sortBufferBytes,
        uploadStreams,
        recovery,
        new ResourceGuard(),
        new Semaphore(1, true));
  }
}

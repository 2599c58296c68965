package io.fasterkv.flink.snapshot;

import io.fasterkv.FasterStore;
import java.lang.System.Logger;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.util.ResourceGuard;

/**
 * The store of one operator's subtask and its local resources. Safe for use by all threads.
 *
 * @param store the store
 * @param directory directory for sort files; removed with the store
 * @param sortBufferBytes heap that one snapshot or listing sorts with
 * @param uploadStreams how many files of one checkpoint are written at a time
 * @param compressed whether files of the log are compressed
 * @param guard keeps the store open while it is held
 * @param recovery whether, and where, checkpoints are also kept on this machine
 * @param scanTurn held while scanning the log, so that one thread scans at a time: each scan takes
 *     a page of the store's scratch memory, which the task's reads need too
 */
public record LocalStore(
    FasterStore store,
    Path directory,
    int sortBufferBytes,
    int uploadStreams,
    boolean compressed,
    LocalRecoveryConfig recovery,
    ResourceGuard guard,
    Semaphore scanTurn) {

  public LocalStore(
      FasterStore store,
      Path directory,
      int sortBufferBytes,
      int uploadStreams,
      boolean compressed,
      LocalRecoveryConfig recovery) {
    this(
        store,
        directory,
        sortBufferBytes,
        uploadStreams,
        compressed,
        recovery,
        new ResourceGuard(),
        new Semaphore(1, true));
  }

  /** The logger of the store. */
  Logger logger() {
    return store.config().logger();
  }
}

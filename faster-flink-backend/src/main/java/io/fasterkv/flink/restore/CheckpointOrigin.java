package io.fasterkv.flink.restore;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.LogFileReader;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StreamPool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.ExceptionUtils;

/**
 * The files of a checkpoint as the origin of a store's log. They exist as long as any checkpoint
 * refers to them: each checkpoint that builds on this one does, until compaction has passed them.
 */
final class CheckpointOrigin implements LogOrigin {
  private final List<LogFileReader> files;
  private final StreamPool pool;
  private final int streams;

  private CheckpointOrigin(List<LogFileReader> files, StreamPool pool, int streams) {
    this.files = files;
    this.pool = pool;
    this.streams = streams;
  }

  /**
   * Reads the heads of several files at a time.
   *
   * @param open for the streams of the origin only; the origin closes it
   */
  static CheckpointOrigin open(CommonLog log, OpenStreams open, RestoreScope scope)
      throws IOException {
    StreamPool pool = new StreamPool(open, scope.streams());
    ExecutorService readers =
        Executors.newFixedThreadPool(
            Math.clamp(log.files().size(), 1, scope.streams()),
            Thread.ofPlatform().daemon().name("faster-restore-", 0).factory());
    boolean isOpen = false;
    try {
      List<Future<LogFileReader>> reads = new ArrayList<>();
      for (LogFile file : log.files()) {
        reads.add(readers.submit(() -> LogFileReader.open(file, log.log().pageBytes(), pool)));
      }
      List<LogFileReader> files = new ArrayList<>();
      for (Future<LogFileReader> read : reads) {
        files.add(read.get());
      }
      isOpen = true;
      return new CheckpointOrigin(files, pool, scope.streams());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelTaskException("interrupted while a checkpoint was opened");
    } catch (ExecutionException e) {
      scope.check();
      ExceptionUtils.tryRethrowIOException(e.getCause());
      ExceptionUtils.rethrow(e.getCause());
      throw new AssertionError(e);
    } finally {
      if (!isOpen) {
        pool.close();
      }
      readers.shutdownNow();
    }
  }

  @Override
  public List<LogFileReader> files() {
    return files;
  }

  @Override
  public int streams() {
    return streams;
  }

  /** The pieces of all files. */
  List<LogPiece> pieces() {
    return files.stream().flatMap(file -> file.pieces().stream()).toList();
  }

  @Override
  public void close() {
    pool.close();
  }
}

package io.fasterkv.flink.restore;

import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.LogFileReader;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StreamPool;
import io.fasterkv.flink.snapshot.WholeFiles;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.ExceptionUtils;

/**
 * Serves the files of a checkpoint as the origin of a store's log. The files exist as long as any
 * checkpoint refers to them. Each checkpoint that builds on this one does so until compaction has
 * moved past the files or all of the log is local.
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
   * @param open the streams of the origin, which closes them
   * @param copies copies whole files where the storage does that faster than reading
   * @param streams how many streams may read at a time
   */
  static CheckpointOrigin open(
      CommonLog log, OpenStreams open, Path copies, RestoreScope scope, int streams)
      throws IOException {
    StreamPool pool = new StreamPool(open, streams, new WholeFiles(copies, open, scope.logger()));
    ExecutorService readers =
        Executors.newFixedThreadPool(
            Math.clamp(log.files().size(), 1, streams),
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
      return new CheckpointOrigin(files, pool, streams);
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

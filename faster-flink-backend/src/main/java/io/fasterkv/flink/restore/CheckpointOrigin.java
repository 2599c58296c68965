package io.fasterkv.flink.restore;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.LogFileReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.ExceptionUtils;

/**
 * The files of a checkpoint as the origin of a store's log. They stay where they are as long as a
 * checkpoint has them: each that builds on this one does, until compaction has given them up.
 */
final class CheckpointOrigin implements LogOrigin {
  private static final int READERS = 4;

  private final List<LogFileReader> files;

  private CheckpointOrigin(List<LogFileReader> files) {
    this.files = files;
  }

  /** Reads the heads of the files, several at a time. */
  static CheckpointOrigin open(CommonLog log, CloseableRegistry cancelled) throws IOException {
    ExecutorService readers =
        Executors.newFixedThreadPool(
            READERS, Thread.ofPlatform().daemon().name("faster-restore-", 0).factory());
    try {
      List<Future<LogFileReader>> reads = new ArrayList<>();
      for (LogFile file : log.files()) {
        reads.add(readers.submit(() -> open(file, log.log().pageBytes(), cancelled)));
      }
      List<LogFileReader> files = new ArrayList<>();
      for (Future<LogFileReader> read : reads) {
        files.add(read.get());
      }
      return new CheckpointOrigin(files);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelTaskException("interrupted while a checkpoint was opened");
    } catch (ExecutionException e) {
      ExceptionUtils.tryRethrowIOException(e.getCause());
      ExceptionUtils.rethrow(e.getCause());
      throw new AssertionError(e);
    } finally {
      readers.shutdownNow();
    }
  }

  private static LogFileReader open(LogFile file, int pageBytes, CloseableRegistry cancelled)
      throws IOException {
    if (cancelled.isClosed()) {
      throw new CancelTaskException("the restore was cancelled");
    }
    return LogFileReader.open(file, pageBytes);
  }

  @Override
  public List<LogFileReader> files() {
    return files;
  }

  /** The pieces of all files. */
  List<LogPiece> pieces() {
    return files.stream().flatMap(file -> file.pieces().stream()).toList();
  }

  /** Files are opened for each read. */
  @Override
  public void close() {}
}

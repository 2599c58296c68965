package io.fasterkv.device;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.memory.OwnThread;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Brings all pieces of a borrowed log, newest file first, since what was written last is asked for
 * most. A file that cannot be read now is tried again, each time later; one that is not what was
 * written ends it, as anything unexpected does: the place is told, and told again to whoever reads
 * there.
 */
final class Lending {
  private static final Logger LOG = System.getLogger(Lending.class.getName());
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;
  private static final long POLL_MILLIS = 20;

  private final BorrowingDevice device;
  private final BorrowedPieces pieces;
  private @Nullable Thread thread;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Throwable failure;

  /** The latest refusal for want of space. */
  private volatile @Nullable NoSpaceException full;

  Lending(BorrowingDevice device, BorrowedPieces pieces) {
    this.device = device;
    this.pieces = pieces;
  }

  /** Begins, unless it has. */
  synchronized void start() {
    if (thread != null || isClosing()) {
      return;
    }
    thread = Thread.ofPlatform().daemon().name("faster-lending").start(this::run);
  }

  /**
   * Waits until all pieces are here.
   *
   * @throws NoSpaceException if the disk has no space for one meanwhile; it is tried again
   */
  void await() throws IOException {
    NoSpaceException before = full;
    try {
      while (!ended.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        NoSpaceException now = full;
        if (now != null && now != before) {
          throw new NoSpaceException(now);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a log was copied from where it came from", e);
    }
    Throwable cause = failure;
    if (cause != null) {
      throw new IOException(
          "a log could not be copied from where it came from: " + cause.getMessage(), cause);
    }
    if (pieces.missing() > 0) {
      throw new IOException("the store was closed before its log was here");
    }
  }

  /** Ends it; what is not here stays away. */
  void close() {
    Thread started;
    synchronized (this) {
      closing.countDown();
      started = thread;
    }
    if (started != null) {
      // It may wait for bytes from far away.
      started.interrupt();
      OwnThread.awaitEnd(started);
    }
    ended.countDown();
  }

  private void run() {
    try {
      MemorySegment buffer = MemorySegment.ofArray(new byte[longest()]);
      for (int file = pieces.files().size() - 1; file >= 0 && !isClosing(); file--) {
        bring(file, buffer);
      }
      if (pieces.missing() == 0) {
        device.closeOrigin();
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      device.failed(e);
      LOG.log(Level.ERROR, "a log cannot be copied from where it came from", e);
    } finally {
      ended.countDown();
    }
  }

  private void bring(int file, MemorySegment buffer) {
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (!isClosing() && isWanted(file)) {
      try {
        bringOnce(file, buffer);
        return;
      } catch (IOException e) {
        LOG.log(
            Level.WARNING,
            "a file of a log cannot be copied now, it is read where it is and tried again: file="
                + pieces.files().get(file).place(pieces.files().get(file).pieces().getFirst()),
            e);
        full = e instanceof NoSpaceException refusal ? refusal : full;
        pause(pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
      }
    }
  }

  private void bringOnce(int file, MemorySegment buffer) throws IOException {
    LogOrigin.File from = pieces.files().get(file);
    int[] next = {pieces.firstOf(file)};
    from.readAll(
        buffer,
        (LogPiece piece, MemorySegment bytes) -> {
          int number = next[0]++;
          if (!pieces.isHere(number)) {
            BorrowingDevice.check(piece, bytes, from);
            device.keep(number, piece, bytes);
          }
          return !isClosing();
        });
  }

  private boolean isWanted(int file) {
    int first = pieces.firstOf(file);
    for (int i = 0; i < pieces.files().get(file).pieces().size(); i++) {
      if (!pieces.isHere(first + i)) {
        return true;
      }
    }
    return false;
  }

  private int longest() {
    return pieces.files().stream()
        .flatMap(file -> file.pieces().stream())
        .mapToInt(LogPiece::bytes)
        .max()
        .orElse(0);
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  private void pause(long millis) {
    try {
      if (closing.await(millis, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      // It is closing.
    }
  }
}

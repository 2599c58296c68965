package io.fasterkv;

import io.fasterkv.api.StoreException.DeviceFailed;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;

/**
 * The resources of a reader of the log: scratch memory, and its pin on the begin address. They are
 * returned once, when the reader is closed or becomes unreachable. Therefore nothing in here may
 * reference the reader, and a working reader keeps itself reachable until it is done. The epoch
 * slot of an unreachable reader is reclaimed by the next thread that needs one. Returning the
 * resources accesses no off-heap memory and, after the store is closed, no file.
 */
final class ReaderLease {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Loan loan;
  private final Cleaner.Cleanable end;

  /**
   * @param returnBuffers returns the memory; neither it nor {@code unpin} may reference the reader
   * @param unpin removes the pin on the begin address
   * @param logger receives failures of a reader that became unreachable
   */
  ReaderLease(Object reader, Runnable returnBuffers, Runnable unpin, Logger logger) {
    loan = new Loan(returnBuffers, unpin, logger);
    end = CLEANER.register(reader, loan);
  }

  /** Returns all resources, unless that has happened already. */
  void close() {
    loan.isForgotten = false;
    end.clean();
  }

  private static final class Loan implements Runnable {
    private final Runnable returnBuffers;
    private final Runnable unpin;
    private final Logger logger;

    /** Written by the thread that closes the reader, before it runs the cleanup itself. */
    private boolean isForgotten = true;

    Loan(Runnable returnBuffers, Runnable unpin, Logger logger) {
      this.returnBuffers = returnBuffers;
      this.unpin = unpin;
      this.logger = logger;
    }

    @Override
    public void run() {
      try {
        returnBuffers.run();
      } finally {
        unpinNow();
      }
    }

    private void unpinNow() {
      try {
        unpin.run();
      } catch (DeviceFailed e) {
        if (!isForgotten) {
          throw e;
        }
        // The cleaner thread has no caller to throw to.
        logger.log(
            Level.WARNING,
            "a cut or scan was not closed, and what it kept cannot be freed: cause="
                + e.getMessage(),
            e);
      }
    }
  }
}

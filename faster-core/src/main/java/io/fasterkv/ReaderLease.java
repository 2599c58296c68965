package io.fasterkv;

import io.fasterkv.api.StoreException.DeviceFailed;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;

/**
 * What a reader of the log has borrowed: scratch memory, and the log's begin that it has pinned.
 * All goes back once: when the reader is closed, or when it was forgotten, which means that nobody
 * refers to it any more. So nothing here refers to the reader, and a reader that is at work keeps
 * itself reachable until it is done. The epoch slot of a forgotten reader is taken back by whoever
 * needs one. Giving back touches no off-heap memory and, after the store was closed, no file.
 */
final class ReaderLease {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Loan loan;
  private final Cleaner.Cleanable end;

  /**
   * @param giveBack returns memory; neither it nor {@code unpin} leads to the reader
   * @param unpin lets go of the log's begin
   */
  ReaderLease(Object reader, Runnable giveBack, Runnable unpin) {
    loan = new Loan(giveBack, unpin);
    end = CLEANER.register(reader, loan);
  }

  /** Gives all back, unless that was done. */
  void close() {
    loan.isForgotten = false;
    end.clean();
  }

  private static final class Loan implements Runnable {
    private final Runnable giveBack;
    private final Runnable unpin;

    /** Written by the thread that closes the reader, before it gives back itself. */
    private boolean isForgotten = true;

    Loan(Runnable giveBack, Runnable unpin) {
      this.giveBack = giveBack;
      this.unpin = unpin;
    }

    @Override
    public void run() {
      try {
        giveBack.run();
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
        // Nobody is there to be told.
        System.getLogger("io.fasterkv")
            .log(Level.WARNING, "after a cut or scan that was not closed: " + e.getMessage(), e);
      }
    }
  }
}

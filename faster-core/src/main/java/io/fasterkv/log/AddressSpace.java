package io.fasterkv.log;

import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.record.Address;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Limits the length of a log: addresses are never reused and have {@value Address#BITS} bits. The
 * last page stays empty, so that the tail always has an address. Logs a warning when half of the
 * addresses are used.
 */
final class AddressSpace {
  static final long WARN_FROM = 1L << (Address.BITS - 1);

  private final int pageBits;
  private final Logger logger;

  /** For a log that begins or continues at an address. */
  AddressSpace(int pageBits, long startAddress, Logger logger) {
    this.pageBits = pageBits;
    this.logger = logger;
    if (startAddress >= WARN_FROM) {
      warn(startAddress);
    }
  }

  /** The page that stays empty. */
  static long lastPage(int pageBits) {
    return (1L << (Address.BITS - pageBits)) - 1;
  }

  /** Throws if nothing may be written to the page after this one. */
  void requireAfter(long page) {
    long last = lastPage(pageBits);
    if (page + 1 >= last) {
      throw new OutOfAddresses(
          "the log has used up its addresses: tail="
              + (page + 1 << pageBits)
              + ", allowed=up to "
              + (last << pageBits)
              + "; the store takes no more records: read it, or take a checkpoint, and copy what"
              + " is in it to a new store");
    }
  }

  /** Called by the one thread that has turned to a page. */
  void turnedTo(long page) {
    if (page == WARN_FROM >>> pageBits) {
      warn(WARN_FROM);
    }
  }

  private void warn(long address) {
    logger.log(
        Level.WARNING,
        "at least half of the log's addresses are used; copy the records to a new store before all"
            + " are used: tail="
            + address
            + ", allowed=up to "
            + Address.MASK);
  }
}

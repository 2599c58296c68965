package io.fasterkv.log;

import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.record.Address;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * How far a log may come: addresses are never used twice, and have {@value Address#BITS} bits. The
 * last page stays empty, so that the tail always has an address. Tells when half of them are gone.
 */
final class AddressSpace {
  static final long WARN_FROM = 1L << (Address.BITS - 1);
  private static final Logger LOG = System.getLogger(AddressSpace.class.getName());

  private final int pageBits;

  /** Of a log that begins or goes on at an address. */
  AddressSpace(int pageBits, long startAddress) {
    this.pageBits = pageBits;
    if (startAddress >= WARN_FROM) {
      warn(startAddress);
    }
  }

  /** The page that stays empty. */
  static long lastPage(int pageBits) {
    return (1L << (Address.BITS - pageBits)) - 1;
  }

  /** Refuses to go on after a page if nothing may be written to the next one. */
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

  /** Told by the one thread that has turned to a page. */
  void turnedTo(long page) {
    if (page == WARN_FROM >>> pageBits) {
      warn(WARN_FROM);
    }
  }

  private static void warn(long address) {
    LOG.log(
        Level.WARNING,
        "half of the log's addresses or more are used up; copy what is in the store to a new one"
            + " before they are: tail="
            + address
            + ", allowed=up to "
            + Address.MASK);
  }
}

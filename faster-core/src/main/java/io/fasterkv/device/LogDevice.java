package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Stores the bytes of a log by address. Safe for all threads. A transfer either completes or fails
 * as a whole: an implementation repeats short transfers, and never reports success for a part of
 * the bytes. The caller does not touch the memory of a transfer until its completion has been
 * called.
 */
public interface LogDevice extends AutoCloseable {

  /** Receives the outcome of a transfer. */
  @FunctionalInterface
  interface Completion {
    /**
     * Handles the end of a transfer. Called once when the transfer has ended, successfully or not,
     * on a thread of the device or on one that calls {@link #writeOne}. It must not block, and must
     * not throw, because nothing would catch the exception. It ignores a second call.
     *
     * @param failure why the transfer failed; null if all bytes were transferred
     */
    void completed(@org.jspecify.annotations.Nullable IOException failure);
  }

  /**
   * Returns the unit that the device writes as a whole. Committed bytes end at a multiple of it, so
   * that they are never written again.
   *
   * @return the size in bytes, a power of two
   */
  int sectorBytes();

  /**
   * Returns the unit of reads without an extra copy. If the address, the size and native memory are
   * multiples of it, bytes go straight from the device to the memory. All other reads work too, and
   * may need a copy.
   *
   * @return the size in bytes, a power of two, at most {@link #sectorBytes()}
   */
  default int readUnitBytes() {
    return 1;
  }

  /**
   * Starts to write bytes, without making them durable. A write that fails with {@link
   * NoSpaceException} may be retried later; any other failure is permanent.
   *
   * @param address where to write
   * @param source the bytes; all are written
   * @param completion receives the outcome
   */
  void write(long address, MemorySegment source, Completion completion);

  /**
   * Performs a requested write that no thread has started, on the calling thread. A caller that
   * waits for writes uses it to avoid waiting also until a device thread gets a processor.
   *
   * @return false if there is no such write
   */
  default boolean writeOne() {
    return false;
  }

  /**
   * Starts to read bytes.
   *
   * @param address where to read
   * @param target filled completely
   * @param completion receives the outcome
   */
  void read(long address, MemorySegment target, Completion completion);

  /**
   * Tells whether a short {@link #readNow} at an address usually finds its bytes in memory. If so,
   * a second short read is cheaper than reading more bytes than needed at first.
   *
   * @param address where the read starts
   * @return true if the bytes are probably in memory
   */
  default boolean readsMemory(long address) {
    return false;
  }

  /**
   * Creates a read queue for one caller.
   *
   * @param depth how many reads the caller has in progress at most
   * @return the queue
   */
  default ReadQueue readQueue(int depth) {
    return new CompletedReads(this);
  }

  /** {@return the off-heap memory that the device itself uses, in bytes} */
  default long memoryBytes() {
    return 0;
  }

  /**
   * Reads bytes on the calling thread.
   *
   * @param address where to read
   * @param target filled completely
   * @throws IOException if the read fails
   */
  void readNow(long address, MemorySegment target) throws IOException;

  /**
   * Makes all bytes durable whose write has completed: after this returns, they survive a power
   * failure.
   *
   * @throws IOException if that fails
   */
  void force() throws IOException;

  /**
   * Frees storage for addresses below a given one. The device may keep some of it, for example up
   * to the end of a segment.
   *
   * @param address the lowest address that is still needed
   * @throws IOException if storage cannot be freed
   */
  void truncate(long address) throws IOException;

  /**
   * Waits until files of the device contain everything that can be read from it. From then on they
   * always do.
   *
   * @throws IOException if that fails; a {@link NoSpaceException} if space is missing
   */
  default void awaitWhole() throws IOException {}

  /**
   * {@return whether files of the device contain everything that can be read from it, so that
   * {@link #awaitWhole} need not wait}
   */
  default boolean isWhole() {
    return true;
  }

  /**
   * Describes where an address is stored, for error messages.
   *
   * @param address the address
   * @return the location, for example a file and an offset
   */
  String place(long address);

  /**
   * Waits for transfers in progress and releases all resources. The files remain.
   *
   * @throws IOException if a file cannot be closed
   */
  @Override
  void close() throws IOException;

  /**
   * Deletes everything that the device has stored. Close the device first.
   *
   * @throws IOException if a file cannot be deleted
   */
  void delete() throws IOException;
}

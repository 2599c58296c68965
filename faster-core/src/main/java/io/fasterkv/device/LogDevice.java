package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Durable bytes under a log's addresses. Safe for all threads. A transfer is whole or it has
 * failed: an implementation repeats short transfers, and never reports success for part of the
 * bytes. The memory handed in stays untouched by the caller until the completion has been called.
 */
public interface LogDevice extends AutoCloseable {

  /**
   * Called once when a transfer has ended, successfully or not, on a thread of the device or on one
   * that calls {@link #writeOne}. It must not block, and must not throw, since nothing would catch
   * that. It ignores a second call.
   */
  @FunctionalInterface
  interface Completion {
    /**
     * @param failure null when all bytes were transferred
     */
    void completed(@org.jspecify.annotations.Nullable IOException failure);
  }

  /**
   * The unit that the device writes as a whole, a power of two; committed bytes end at a multiple
   * of it, so that they are never written again.
   */
  int sectorBytes();

  /**
   * The unit that the device reads in without a detour, a power of two and at most {@link
   * #sectorBytes()}: where address, size and native memory are multiples of it, bytes go straight
   * from the device to the memory. Any other read works as well, and may cost a copy.
   */
  default int readUnitBytes() {
    return 1;
  }

  /**
   * Starts to write all bytes of {@code source} at {@code address}. Does not make them durable. A
   * write that ends in {@link NoSpaceException} is tried again some time; any other failure is for
   * good.
   */
  void write(long address, MemorySegment source, Completion completion);

  /**
   * Does a write that has been asked for and that no thread has begun, on the calling thread; false
   * if there is none. For who waits for writes, and would otherwise wait for a processor for the
   * device's threads, too.
   */
  default boolean writeOne() {
    return false;
  }

  /** Starts to fill {@code target} from {@code address} on. */
  void read(long address, MemorySegment target, Completion completion);

  /**
   * Whether {@link #readNow} finds what is short, and begins at {@code address}, in memory, as a
   * rule. Then a second read costs less than bytes that the first one need not have had.
   */
  default boolean readsMemory(long address) {
    return false;
  }

  /** A queue of its own for a caller that has up to {@code depth} reads under way. */
  default ReadQueue readQueue(int depth) {
    return new CompletedReads(this);
  }

  /** Bytes of memory outside of the Java heap that the device takes by itself. */
  default long memoryBytes() {
    return 0;
  }

  /** Fills {@code target} from {@code address} on, on the calling thread. */
  void readNow(long address, MemorySegment target) throws IOException;

  /** Returns when all bytes whose write has completed survive a power cut. */
  void force() throws IOException;

  /** Lets go of storage for addresses below {@code address}, as far as it is convenient. */
  void truncate(long address) throws IOException;

  /**
   * Returns when files of the device have all that can be read from it; from then on they do.
   *
   * @throws IOException if that cannot be had, and a {@link NoSpaceException} if it cannot be had
   *     for want of space
   */
  default void awaitWhole() throws IOException {}

  /** Whether files of the device have all that can be read from it: {@link #awaitWhole} is over. */
  default boolean isWhole() {
    return true;
  }

  /** Names the place of an address for an error message, for example a file and an offset. */
  String place(long address);

  /** Waits for the transfers under way and lets go of all resources; files stay. */
  @Override
  void close() throws IOException;

  /** Removes everything the device has stored. The device must be closed. */
  void delete() throws IOException;
}

package io.fasterkv.api;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The errors of a store. Each kind says what the caller can do about it. */
public sealed class StoreException extends RuntimeException {

  private StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** A setting is outside its range, or the settings do not fit together. */
  public static final class BadConfig extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is wrong, and what is allowed
     */
    public BadConfig(String message) {
      super(message, null);
    }
  }

  /** A key or value is larger than the store can hold. */
  public static final class RecordTooLarge extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is too large, and what is allowed
     */
    public RecordTooLarge(String message) {
      super(message, null);
    }
  }

  /** A fixed part of the memory budget is used up. The message names the setting to raise. */
  public static final class OutOfBudget extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is used up, and the setting to raise
     */
    public OutOfBudget(String message) {
      super(message, null);
    }
  }

  /**
   * The device failed. The store accepts no further writes, because its data in memory may not
   * reach the disk any more.
   */
  public static final class DeviceFailed extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what failed
     * @param cause the first failure; null if there is none
     */
    public DeviceFailed(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The disk had no space for this request. Only the request failed: the store continues, and the
   * data to write is still in memory. The message names the file and the offset. Retry when there
   * is space.
   */
  public static final class DiskFull extends StoreException {
    /**
     * Creates the error.
     *
     * @param message the file and the offset
     * @param cause the error of the file system; null if there is none
     */
    public DiskFull(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Bytes on disk are not those that were written. The message names the file and the offset. */
  public static final class Corrupt extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is wrong, with the file and the offset
     */
    public Corrupt(String message) {
      super(message, null);
    }

    /**
     * Creates the error with a cause.
     *
     * @param message what is wrong, with the file and the offset
     * @param cause the exception that the bytes led to
     */
    public Corrupt(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * All addresses of the log, 2 to the power of 48 bytes, have been used: the store accepts no more
   * records. Reads, scans, checkpoints and exports still work, so the data can be copied to a new
   * store. The store logs a warning once half of the addresses are used.
   */
  public static final class OutOfAddresses extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is used up, and what to do
     */
    public OutOfAddresses(String message) {
      super(message, null);
    }
  }

  /** A reader of the log needs a part that has been truncated or compacted away. */
  public static final class Truncated extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what was needed, and where the log begins
     */
    public Truncated(String message) {
      super(message, null);
    }
  }

  /**
   * An operation that had returned {@link Status#PENDING}, or a stage, did not take effect: a
   * user's function threw, the record could not be read, or there was no memory for it. The cause
   * says which. After every other exception of a session's operation, the operation has no serial
   * number.
   */
  public static final class OperationFailed extends StoreException {
    private static final long serialVersionUID = 1;

    /** The operation's serial number. */
    private final long serial;

    /** The operation's key. */
    private final byte[] key;

    private final transient @Nullable Object context;

    /**
     * Creates the error of one operation.
     *
     * @param serial the operation's serial number in its session
     * @param key the operation's key; the exception takes ownership of the array
     * @param context the caller's object for the operation; null if there is none
     * @param cause why the operation failed
     */
    public OperationFailed(long serial, byte[] key, @Nullable Object context, Throwable cause) {
      super(
          "a pending operation failed and did not take effect: serial="
              + serial
              + ", keyBytes="
              + key.length
              + ", cause="
              + cause
              + "; issue it again, or continue without it",
          cause);
      this.serial = serial;
      this.key = key;
      this.context = context;
    }

    /** {@return the operation's serial number in its session} */
    public long serial() {
      return serial;
    }

    /**
     * {@return a copy of the key; for a {@code long} key, its bytes in the machine's byte order}
     */
    public byte[] key() {
      return key.clone();
    }

    /**
     * Returns the key of an operation on {@code long} records.
     *
     * @return the key
     * @throws IllegalStateException if the key is not eight bytes long
     */
    public long longKey() {
      if (key.length != Long.BYTES) {
        throw new IllegalStateException(
            "the key is not a long: keyBytes=" + key.length + ", allowed=" + Long.BYTES);
      }
      return ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).getLong();
    }

    /**
     * {@return the object that the caller passed with the operation; null if there is none, and in
     * an asynchronous session}
     */
    public @Nullable Object context() {
      return context;
    }
  }

  /** The store or the session is closed. */
  public static final class Closed extends StoreException {
    /**
     * Creates the error.
     *
     * @param message what is closed
     */
    public Closed(String message) {
      super(message, null);
    }
  }
}

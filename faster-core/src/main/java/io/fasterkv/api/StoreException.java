package io.fasterkv.api;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** What can go wrong with a store. Each kind says what to do about it. */
public sealed class StoreException extends RuntimeException {

  private StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** A setting is outside what is allowed, or the settings do not fit together. */
  public static final class BadConfig extends StoreException {
    public BadConfig(String message) {
      super(message, null);
    }
  }

  /** A key or value is larger than the store's pages can hold. */
  public static final class RecordTooLarge extends StoreException {
    public RecordTooLarge(String message) {
      super(message, null);
    }
  }

  /** A fixed piece of the memory budget is used up; the message names the setting to raise. */
  public static final class OutOfBudget extends StoreException {
    public OutOfBudget(String message) {
      super(message, null);
    }
  }

  /** The device failed. The store refuses further writes: what is in memory may not reach disk. */
  public static final class DeviceFailed extends StoreException {
    public DeviceFailed(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The disk had no space for what was asked, and it alone failed: the store goes on, and has what
   * was to be written in memory. The message names the file and the offset. To be asked again when
   * there is space.
   */
  public static final class DiskFull extends StoreException {
    public DiskFull(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Bytes on disk are not what was written; the message names the file and the offset. */
  public static final class Corrupt extends StoreException {
    public Corrupt(String message) {
      super(message, null);
    }

    public Corrupt(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * All addresses of the log, 2 to the power of 48 bytes, were used once: the store takes no more
   * records. Reads, scans, checkpoints and exports go on, for who copies what is there to a new
   * store. A warning is logged from half of that on.
   */
  public static final class OutOfAddresses extends StoreException {
    public OutOfAddresses(String message) {
      super(message, null);
    }
  }

  /** A reader of the log wants what has been truncated or compacted away. */
  public static final class Truncated extends StoreException {
    public Truncated(String message) {
      super(message, null);
    }
  }

  /**
   * An operation that returned {@link Status#PENDING} or a stage did not take effect: a user's
   * function threw, the record could not be read, or memory was missing. The cause says which. Any
   * other exception from a session's operation means that the operation has no serial number.
   */
  public static final class OperationFailed extends StoreException {
    private static final long serialVersionUID = 1;

    private final long serial;
    private final byte[] key;
    private final transient @Nullable Object context;

    /**
     * @param key owned by the exception from now on
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

    /** The operation's serial number in its session. */
    public long serial() {
      return serial;
    }

    /** A copy of the key; of a {@code long} key, its bytes in the machine's order. */
    public byte[] key() {
      return key.clone();
    }

    /** The key of an operation on {@code long} records. */
    public long longKey() {
      if (key.length != Long.BYTES) {
        throw new IllegalStateException(
            "the key is not a long: keyBytes=" + key.length + ", allowed=" + Long.BYTES);
      }
      return ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).getLong();
    }

    /**
     * The context that the caller passed with the operation; null if none, and in an asynchronous
     * session.
     */
    public @Nullable Object context() {
      return context;
    }
  }

  /** The store or the session is closed. */
  public static final class Closed extends StoreException {
    public Closed(String message) {
      super(message, null);
    }
  }
}

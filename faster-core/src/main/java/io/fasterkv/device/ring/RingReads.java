package io.fasterkv.device.ring;

import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.ring.ReadOnlyFiles.OpenFile;
import io.fasterkv.state.StoreFailure;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one caller through its own {@link Ring}; no other thread is involved. Reads are
 * submitted when the kernel has no other request of this caller, when several have accumulated, and
 * when no completion is available. All methods are synchronized only so that closing the device
 * under its caller can wait until the kernel no longer writes to the caller's memory.
 */
final class RingReads implements ReadQueue {
  private static final int BATCH = 4;
  private static final int TAG_BITS = 16;
  private static final int MAX_TRIES = 10_000;
  private static final long PAUSE_NANOS = 20_000;

  /** One read: the bytes still to read, and their position. */
  private static final class Read {
    private @Nullable OpenFile file;
    private MemorySegment target = MemorySegment.NULL;
    private long address;
    private long done;
    private @Nullable IOException failure;

    /**
     * Increases with each request and at the end. It is part of the request's tag, so that the
     * completion of another request is not accepted.
     */
    private long serial;
  }

  private final UringDevice device;
  private final Ring ring;
  private final Read[] reads;

  /** Reads that ended without a completion. */
  private final Deque<Integer> refused;

  /** Requests in the ring or accepted by the kernel. */
  private int requests;

  private @Nullable IOException failure;
  private boolean isClosed;

  RingReads(UringDevice device, Ring ring, int depth) {
    this.device = device;
    this.ring = ring;
    reads = new Read[depth];
    // It never grows, since each read is refused at most once.
    refused = new ArrayDeque<>(depth);
    for (int tag = 0; tag < depth; tag++) {
      reads[tag] = new Read();
    }
  }

  @Override
  public synchronized void read(int tag, long address, MemorySegment target) {
    Read read = reads[tag];
    read.target = target;
    read.address = address;
    read.done = 0;
    try {
      if (isClosed) {
        throw new IOException("the device is closed");
      }
      read.file = device.hold(address, target);
      request(tag);
    } catch (Throwable e) {
      refuse(tag, StoreFailure.asIoException(e));
      return;
    }
    try {
      submitIfMany();
    } catch (Throwable e) {
      // The read is in the ring, and the kernel may write to its target: to the caller it is in
      // progress. The next call of next() submits it, and throws an exception if that fails.
    }
  }

  private void submitIfMany() {
    int waiting = ring.waiting();
    if (waiting >= BATCH || waiting == requests) {
      enter(0);
    }
  }

  @Override
  public synchronized int next(boolean wait) {
    for (boolean hasEntered = false; ; hasEntered = true) {
      while (!isClosed && ring.next()) {
        int tag = completed(ring.tag(), ring.result());
        if (tag != NONE) {
          return ended(tag);
        }
      }
      if (!refused.isEmpty()) {
        return ended(refused.remove());
      }
      boolean mustWait = wait && requests > 0;
      boolean mayHelp = !isClosed && (ring.waiting() > 0 || ring.isCompletionDelayed());
      if (!mustWait && (hasEntered || !mayHelp)) {
        return NONE;
      }
      enter(mustWait ? 1 : 0);
    }
  }

  @Override
  public synchronized @Nullable IOException failure() {
    return failure;
  }

  @Override
  public synchronized void close() {
    if (isClosed) {
      return;
    }
    requests -= ring.waiting();
    ring.withdraw();
    while (requests > 0) {
      enter(1);
      while (ring.next()) {
        Read read = reads[tag(ring.tag())];
        if (isOf(read, ring.tag())) {
          read.serial++;
          requests--;
        }
      }
    }
    isClosed = true;
    for (int tag = 0; tag < reads.length; tag++) {
      if (reads[tag].file != null) {
        refuse(tag, new IOException("the device is closed"));
        release(reads[tag]);
      }
    }
    ring.close();
    device.forget(this);
  }

  private void request(int tag) {
    Read read = reads[tag];
    OpenFile file = read.file;
    if (file == null) {
      throw new IllegalStateException("a read without a file: tag=" + tag);
    }
    MemorySegment rest = read.target.asSlice(read.done);
    long position = device.position(read.address + read.done);
    read.serial++;
    ring.read(file.descriptor, position, rest, read.serial << TAG_BITS | tag);
    requests++;
  }

  /**
   * Processes a completion; returns its read's tag if the read has ended, otherwise {@link #NONE}.
   */
  private int completed(long requestTag, int result) {
    int tag = tag(requestTag);
    Read read = reads[tag];
    if (!isOf(read, requestTag)) {
      return NONE;
    }
    requests--;
    try {
      return progress(read, tag, result);
    } catch (Throwable e) {
      read.failure = StoreFailure.asIoException(e);
      return tag;
    }
  }

  /** Like {@link #completed}, for a read that waits for this one. */
  private int progress(Read read, int tag, int result) {
    if (result == -Ring.EINTR || result == -Ring.EAGAIN) {
      request(tag);
      return NONE;
    }
    if (result < 0) {
      read.failure = new IOException("a read failed: errno=" + -result + place(read));
      return tag;
    }
    // A direct transfer continues at a whole unit; bytes beyond that are read again.
    long progress = result & -(long) device.readUnitBytes();
    if (read.done + result < read.target.byteSize() && progress > 0) {
      read.done += progress;
      request(tag);
      return NONE;
    }
    read.done += result;
    if (read.done < read.target.byteSize()) {
      read.failure = new EOFException("the file ends early" + place(read));
    }
    return tag;
  }

  private static int tag(long requestTag) {
    return (int) requestTag & ((1 << TAG_BITS) - 1);
  }

  /** Whether a completion belongs to the read's current request, and not to an earlier one. */
  private static boolean isOf(Read read, long requestTag) {
    return requestTag >>> TAG_BITS == read.serial && read.file != null;
  }

  private String place(Read read) {
    return ", " + device.place(read.address + read.done) + ", bytes=" + read.target.byteSize();
  }

  private void refuse(int tag, IOException cause) {
    if (reads[tag].failure == null) {
      reads[tag].failure = cause;
      refused.add(tag);
    }
  }

  private int ended(int tag) {
    Read read = reads[tag];
    read.serial++;
    read.target = MemorySegment.NULL;
    failure = read.failure;
    read.failure = null;
    release(read);
    return tag;
  }

  private static void release(Read read) {
    if (read.file != null) {
      read.file.release();
      read.file = null;
    }
  }

  /** Submits the waiting requests, and waits for {@code wanted} completions. */
  private void enter(int wanted) {
    for (int tries = 1; ; tries++) {
      int result = ring.enter(wanted);
      int waiting = ring.waiting();
      if (result >= 0 && waiting == 0) {
        return;
      }
      if (result >= 0 || result == -Ring.EINTR) {
        continue;
      }
      boolean mayPass = result == -Ring.EAGAIN || result == -Ring.EBUSY;
      if (mayPass && requests > waiting) {
        // The kernel requires that completions are consumed first; the next call submits the
        // requests.
        return;
      }
      if (!mayPass || tries == MAX_TRIES) {
        refuseWaiting(new IOException("the kernel takes no reads: errno=" + -result));
        return;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void refuseWaiting(IOException cause) {
    int waiting = ring.waiting();
    for (int i = 0; i < waiting; i++) {
      refuse(tag(ring.waitingTag(i)), cause);
    }
    ring.withdraw();
    requests -= waiting;
  }
}

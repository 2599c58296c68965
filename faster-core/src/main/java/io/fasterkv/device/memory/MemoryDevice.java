package io.fasterkv.device.memory;

import io.fasterkv.device.LogDevice;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Stores bytes on the Java heap, and completes each transfer on the calling thread. For tests, and
 * for stores that need not outlive the process. Its bytes are not part of a store's budget.
 */
public final class MemoryDevice implements LogDevice {
  private static final int SECTOR_BYTES = 64;

  private final ConcurrentMap<Long, byte[]> sectors = new ConcurrentHashMap<>();

  /** Creates a device without any bytes. */
  public MemoryDevice() {}

  @Override
  public int sectorBytes() {
    return SECTOR_BYTES;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    if (address % SECTOR_BYTES != 0 || source.byteSize() % SECTOR_BYTES != 0) {
      completion.completed(
          new IOException(
              "not whole sectors: address=" + address + ", bytes=" + source.byteSize()));
      return;
    }
    for (long at = 0; at < source.byteSize(); at += SECTOR_BYTES) {
      byte[] sector = new byte[SECTOR_BYTES];
      MemorySegment.copy(source, at, MemorySegment.ofArray(sector), 0, SECTOR_BYTES);
      sectors.put((address + at) / SECTOR_BYTES, sector);
    }
    completion.completed(null);
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    try {
      readNow(address, target);
      completion.completed(null);
    } catch (IOException e) {
      completion.completed(e);
    }
  }

  @Override
  public boolean readsMemory(long address) {
    return true;
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    long done = 0;
    while (done < target.byteSize()) {
      long at = address + done;
      byte[] sector = sectors.get(at / SECTOR_BYTES);
      if (sector == null) {
        throw new EOFException("never written: address=" + at);
      }
      int within = (int) (at % SECTOR_BYTES);
      long count = Math.min(SECTOR_BYTES - within, target.byteSize() - done);
      MemorySegment.copy(MemorySegment.ofArray(sector), within, target, done, count);
      done += count;
    }
  }

  @Override
  public void force() {}

  @Override
  public void truncate(long address) {
    sectors.keySet().removeIf(sector -> sector < address / SECTOR_BYTES);
  }

  @Override
  public String place(long address) {
    return "memory device at address " + address;
  }

  @Override
  public void close() {}

  @Override
  public void delete() {
    sectors.clear();
  }
}

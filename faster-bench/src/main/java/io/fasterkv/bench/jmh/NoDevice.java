package io.fasterkv.bench.jmh;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Accepts every write at once and keeps nothing, so that only the log's own work is measured. */
final class NoDevice implements LogDevice {
  private static final int SECTOR_BYTES = 4096;

  @Override
  public int sectorBytes() {
    return SECTOR_BYTES;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    completion.completed(null);
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    completion.completed(new IOException("nothing is kept"));
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    throw new IOException("nothing is kept");
  }

  @Override
  public void force() {}

  @Override
  public void truncate(long address) {}

  @Override
  public String place(long address) {
    return "nowhere";
  }

  @Override
  public void close() {}

  @Override
  public void delete() {}
}

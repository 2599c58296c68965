package io.fasterkv.device.memory;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The device of a store in memory. It stores nothing, and the store never uses it for transfers.
 */
public final class NoDevice implements LogDevice {
  /** Creates the device. */
  public NoDevice() {}

  /** Records are aligned to 8 bytes in any case. */
  @Override
  public int sectorBytes() {
    return Long.BYTES;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    completion.completed(refusal(address));
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    completion.completed(refusal(address));
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    throw refusal(address);
  }

  @Override
  public void force() {}

  @Override
  public void truncate(long address) {}

  @Override
  public String place(long address) {
    return "memory at address " + address;
  }

  @Override
  public void close() {}

  @Override
  public void delete() {}

  private IOException refusal(long address) {
    return new IOException("a store in memory has no device: " + place(address));
  }
}

package io.fasterkv.sim;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Forwards all requests to another device. */
public abstract class DelegatingDevice implements LogDevice {
  protected final LogDevice device;

  protected DelegatingDevice(LogDevice device) {
    this.device = device;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    device.write(address, source, completion);
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    device.read(address, target, completion);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    device.readNow(address, target);
  }

  @Override
  public void force() throws IOException {
    device.force();
  }

  @Override
  public int sectorBytes() {
    return device.sectorBytes();
  }

  @Override
  public boolean writeOne() {
    return device.writeOne();
  }

  @Override
  public void truncate(long address) throws IOException {
    device.truncate(address);
  }

  @Override
  public String place(long address) {
    return device.place(address);
  }

  @Override
  public void close() throws IOException {
    device.close();
  }

  @Override
  public void delete() throws IOException {
    device.delete();
  }
}

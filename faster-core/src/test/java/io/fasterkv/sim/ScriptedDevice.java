package io.fasterkv.sim;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Another device, with a script that has the first and the last word about each request. */
public final class ScriptedDevice implements LogDevice {

  /** What happens to requests; a script that says nothing lets them pass. */
  public interface Script {
    /** Everything passes. */
    Script NONE = new Script() {};

    /** Fails a write before it begins, or lets it pass. */
    default void beforeWrite(long address, long bytes) throws IOException {}

    /** Fails a read before it begins, or lets it pass. */
    default void beforeRead(long address, long bytes) throws IOException {}

    /** Fails a force before it begins, or lets it pass. */
    default void beforeForce() throws IOException {}

    /** Runs, or keeps for later, what tells the store that a transfer has ended. */
    default void complete(Runnable completion) {
      completion.run();
    }
  }

  private final LogDevice device;
  private volatile Script script = Script.NONE;

  public ScriptedDevice(LogDevice device) {
    this.device = device;
  }

  /** From now on, requests go by {@code script}. */
  public void setScript(Script script) {
    this.script = script;
  }

  @Override
  public int sectorBytes() {
    return device.sectorBytes();
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    Completion told = failure -> script.complete(() -> completion.completed(failure));
    try {
      script.beforeWrite(address, source.byteSize());
    } catch (IOException e) {
      told.completed(e);
      return;
    }
    device.write(address, source, told);
  }

  @Override
  public boolean writeOne() {
    return device.writeOne();
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    Completion told = failure -> script.complete(() -> completion.completed(failure));
    try {
      script.beforeRead(address, target.byteSize());
    } catch (IOException e) {
      told.completed(e);
      return;
    }
    device.read(address, target, told);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    script.beforeRead(address, target.byteSize());
    device.readNow(address, target);
  }

  @Override
  public void force() throws IOException {
    script.beforeForce();
    device.force();
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

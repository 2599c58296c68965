package io.fasterkv.sim;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Wraps another device; a script runs before and after each request and can change its outcome. */
public final class ScriptedDevice extends DelegatingDevice {

  /** Decides the outcome of requests; by default, it lets them pass. */
  public interface Script {
    /** All requests pass. */
    Script NONE = new Script() {};

    /** Fails a write before it begins, or lets it pass. */
    default void beforeWrite(long address, long bytes) throws IOException {}

    /** Fails a read before it begins, or lets it pass. */
    default void beforeRead(long address, long bytes) throws IOException {}

    /** Fails a force before it begins, or lets it pass. */
    default void beforeForce() throws IOException {}

    /** Runs the completion of a transfer, or keeps it for later. */
    default void complete(Runnable completion) {
      completion.run();
    }
  }

  private volatile Script script = Script.NONE;

  public ScriptedDevice(LogDevice device) {
    super(device);
  }

  /** Makes {@code script} decide about all later requests. */
  public void setScript(Script script) {
    this.script = script;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    Completion reported = failure -> script.complete(() -> completion.completed(failure));
    try {
      script.beforeWrite(address, source.byteSize());
    } catch (IOException e) {
      reported.completed(e);
      return;
    }
    device.write(address, source, reported);
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    Completion reported = failure -> script.complete(() -> completion.completed(failure));
    try {
      script.beforeRead(address, target.byteSize());
    } catch (IOException e) {
      reported.completed(e);
      return;
    }
    device.read(address, target, reported);
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
}

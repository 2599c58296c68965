package io.fasterkv.bench.slow;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.core.fs.FSDataOutputStream;

/** Writes a local file as slowly as remote storage. */
final class SlowOutput extends FSDataOutputStream {
  private final FSDataOutputStream file;
  private final Pace pace;
  private final Traffic traffic;
  private final AtomicBoolean closed = new AtomicBoolean();

  SlowOutput(FSDataOutputStream file, Pace pace, Traffic traffic) {
    this.file = file;
    this.pace = pace;
    this.traffic = traffic;
    traffic.opened();
  }

  @Override
  public long getPos() throws IOException {
    return file.getPos();
  }

  @Override
  public void write(int written) throws IOException {
    file.write(written);
    pace.moved(1);
  }

  @Override
  public void write(byte[] from, int start, int bytes) throws IOException {
    for (int done = 0; done < bytes; done += Pace.PART_BYTES) {
      int part = Math.min(bytes - done, Pace.PART_BYTES);
      file.write(from, start + done, part);
      pace.moved(part);
    }
  }

  @Override
  public void flush() throws IOException {
    file.flush();
  }

  @Override
  public void sync() throws IOException {
    file.sync();
  }

  @Override
  public void close() throws IOException {
    if (closed.compareAndSet(false, true)) {
      traffic.closed();
      pace.close();
      file.close();
    }
  }
}

package io.fasterkv.bench.slow;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.core.fs.FSDataInputStream;

/** Reads a local file as slowly as remote storage. */
final class SlowInput extends FSDataInputStream {
  private final FSDataInputStream file;
  private final Pace pace;
  private final Traffic traffic;
  private final AtomicBoolean closed = new AtomicBoolean();

  SlowInput(FSDataInputStream file, Pace pace, Traffic traffic) {
    this.file = file;
    this.pace = pace;
    this.traffic = traffic;
    traffic.opened();
  }

  @Override
  public void seek(long position) throws IOException {
    long away = position - file.getPos();
    if (away != 0) {
      pace.skipped(away);
      file.seek(position);
    }
  }

  @Override
  public long getPos() throws IOException {
    return file.getPos();
  }

  @Override
  public int read() throws IOException {
    int read = file.read();
    moved(read < 0 ? 0 : 1);
    return read;
  }

  @Override
  public int read(byte[] to, int from, int bytes) throws IOException {
    int read = file.read(to, from, Math.min(bytes, Pace.PART_BYTES));
    moved(Math.max(0, read));
    return read;
  }

  private void moved(int bytes) throws IOException {
    traffic.read(bytes);
    pace.moved(bytes);
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

package io.fasterkv.sim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** A file of a {@link SimulatedDisk}, or its directory if there is no file. */
final class SimulatedChannel extends FileChannel {
  private final SimulatedDisk disk;
  private final String name;
  private final SimulatedDisk.Inode file;
  private long position;

  SimulatedChannel(SimulatedDisk disk, String name, SimulatedDisk.Inode file) {
    this.disk = disk;
    this.name = name;
    this.file = file;
  }

  @Override
  public int read(ByteBuffer target, long from) throws IOException {
    checkOpen();
    int wanted =
        Math.min(target.remaining(), disk.faults().beforeRead(name, from, target.remaining()));
    checkOpen();
    byte[] bytes = new byte[wanted];
    int count = disk.read(file, from, bytes);
    if (count > 0) {
      target.put(bytes, 0, count);
    }
    return count;
  }

  @Override
  public int write(ByteBuffer source, long to) throws IOException {
    checkOpen();
    int taken =
        Math.min(source.remaining(), disk.faults().beforeWrite(name, to, source.remaining()));
    checkOpen();
    byte[] bytes = new byte[taken];
    source.get(bytes);
    disk.write(file, to, bytes);
    return taken;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    int count = read(target, position);
    position += Math.max(0, count);
    return count;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int count = write(source, position);
    position += count;
    return count;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    checkOpen();
    disk.faults().beforeForce(name);
    if (file == null) {
      disk.forceDirectory();
    } else {
      disk.force(file);
    }
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public FileChannel position(long newPosition) {
    position = newPosition;
    return this;
  }

  @Override
  public long size() throws IOException {
    checkOpen();
    return disk.size(file);
  }

  @Override
  protected void implCloseChannel() {}

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileChannel truncate(long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long to, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long from, long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long from, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long from, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  private void checkOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }
}

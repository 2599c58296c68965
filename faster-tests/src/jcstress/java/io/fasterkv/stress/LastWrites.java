package io.fasterkv.stress;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/** A device that keeps the last pages it received, and completes on the calling thread. */
final class LastWrites implements LogDevice {
  private static final int KEPT_BYTES = 16 * SmallStore.PAGE_BYTES;

  private final MemorySegment kept = MemorySegment.ofArray(new long[KEPT_BYTES / Long.BYTES]);

  MemorySegment last(long address, long bytes) {
    return kept.asSlice(address % KEPT_BYTES, bytes);
  }

  @Override
  public int sectorBytes() {
    return 64;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    for (long at = 0; at < source.byteSize(); at += sectorBytes()) {
      last(address + at, sectorBytes()).copyFrom(source.asSlice(at, sectorBytes()));
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
  public void readNow(long address, MemorySegment target) throws IOException {
    throw new IOException("a state is no longer in memory: " + place(address));
  }

  @Override
  public void force() {}

  @Override
  public void truncate(long address) {}

  @Override
  public String place(long address) {
    return String.format(Locale.ROOT, "address=%d", address);
  }

  @Override
  public void close() {}

  @Override
  public void delete() {}
}

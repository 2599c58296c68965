package io.fasterkv;

import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** An origin whose log is in memory and whose reads can fail on request. */
public final class MemoryOrigin implements LogOrigin {
  private final List<Part> files = new ArrayList<>();
  private final AtomicInteger refusals = new AtomicInteger();
  private final AtomicInteger singleRefusals = new AtomicInteger();
  final AtomicInteger singleReads = new AtomicInteger();
  private final int blockBytes;
  private volatile boolean isClosed;
  private int streams = 1;
  private volatile @Nullable Error thrown;
  private volatile long longestRead;
  private volatile @Nullable CountDownLatch held;
  private final AtomicInteger heldReads = new AtomicInteger();
  private final List<Long> filled = Collections.synchronizedList(new ArrayList<>());

  /** Some consecutive pieces with their bytes. */
  public record Run(
      List<LogPiece> pieces, List<byte[]> bytes, List<byte[]> sound, byte @Nullable [] digest) {
    /** Creates an origin with intact bytes; bytes that change later do not match the checksums. */
    public Run(List<LogPiece> pieces, List<byte[]> bytes, byte @Nullable [] digest) {
      this(pieces, bytes, bytes.stream().map(byte[]::clone).toList(), digest);
    }

    long from() {
      return pieces.getFirst().from();
    }

    long until() {
      return pieces.getLast().until();
    }
  }

  public MemoryOrigin(List<Run> runs) {
    this(runs, 1024);
  }

  /**
   * @param blockBytes the number of bytes that are read and checked together
   */
  public MemoryOrigin(List<Run> runs, int blockBytes) {
    this.blockBytes = blockBytes;
    runs.forEach(run -> files.add(new Part(run)));
  }

  /** Sets the number of reads at a time. */
  MemoryOrigin streams(int count) {
    streams = count;
    return this;
  }

  @Override
  public int streams() {
    return streams;
  }

  /** Makes each read throw an error. */
  MemoryOrigin throwing(Error error) {
    thrown = error;
    return this;
  }

  /** Makes the reads of the fill block. */
  MemoryOrigin holding(CountDownLatch until) {
    held = until;
    return this;
  }

  /** The number of reads of the fill that have blocked, including those that still do. */
  int heldReads() {
    return heldReads.get();
  }

  /** The addresses that the fill has read, in order. */
  List<Long> filled() {
    return List.copyOf(filled);
  }

  private void hold() throws IOException {
    CountDownLatch until = held;
    if (until != null && until.getCount() > 0) {
      heldReads.incrementAndGet();
      try {
        until.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }
  }

  /** The length of the longest read of an operation. */
  long longestRead() {
    return longestRead;
  }

  /** Makes the given number of reads of the fill fail. */
  MemoryOrigin refusing(int times) {
    refusals.set(times);
    return this;
  }

  /** Makes the given number of reads of operations fail. */
  MemoryOrigin refusingPieces(int times) {
    singleRefusals.set(times);
    return this;
  }

  /** The number of reads of operations that will still fail. */
  int piecesToRefuse() {
    return singleRefusals.get();
  }

  boolean isClosed() {
    return isClosed;
  }

  @Override
  public List<Part> files() {
    return files;
  }

  @Override
  public void close() {
    isClosed = true;
  }

  public final class Part implements LogOrigin.File {
    private final Run run;

    Part(Run run) {
      this.run = run;
    }

    @Override
    public List<LogPiece> pieces() {
      return run.pieces;
    }

    @Override
    public int blockBytes() {
      return blockBytes;
    }

    @Override
    public int blockCrc(int piece, int block) {
      LogPiece of = run.pieces.get(piece);
      int from = (int) (of.blockFrom(block, blockBytes) - of.from());
      int until = (int) (of.blockFrom(block + 1, blockBytes) - of.from());
      CRC32C crc = new CRC32C();
      crc.update(run.sound.get(piece), from, until - from);
      return (int) crc.getValue();
    }

    @Override
    public boolean hasDigest() {
      return run.digest != null;
    }

    @Override
    public void readDigest(DigestVisitor visitor) throws IOException {
      checkOpen();
      visitor.visit(run.digest);
    }

    /** The thread's name distinguishes reads of the fill from reads of an operation. */
    @Override
    public void read(long address, MemorySegment target) throws IOException {
      checkOpen();
      Error error = thrown;
      if (error != null) {
        throw error;
      }
      boolean isFill = Thread.currentThread().getName().startsWith("faster-fill");
      if (run.digest != null && refuse(isFill ? refusals : singleRefusals)) {
        throw new IOException("refused");
      }
      if (isFill) {
        filled.add(address);
        hold();
      } else {
        singleReads.incrementAndGet();
        longestRead = Math.max(longestRead, target.byteSize());
      }
      for (long done = 0; done < target.byteSize(); ) {
        int piece = pieceAt(address + done);
        long from = address + done - run.pieces.get(piece).from();
        byte[] bytes = run.bytes.get(piece);
        long length = Math.min(bytes.length - from, target.byteSize() - done);
        target.asSlice(done, length).copyFrom(MemorySegment.ofArray(bytes).asSlice(from, length));
        done += length;
      }
    }

    private int pieceAt(long address) {
      int piece = 0;
      while (run.pieces.get(piece).until() <= address) {
        piece++;
      }
      return piece;
    }

    private static boolean refuse(AtomicInteger left) {
      return left.getAndUpdate(more -> Math.max(0, more - 1)) > 0;
    }

    private void checkOpen() throws IOException {
      if (isClosed) {
        throw new IOException("the origin was closed");
      }
    }

    @Override
    public String place(long address) {
      return "file=memory-" + run.from() + ", offset=" + (address - run.from());
    }
  }
}

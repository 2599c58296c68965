package io.fasterkv;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The origin of a log in memory, of which reads of whole files can be made to fail. */
final class MemoryOrigin implements LogOrigin {
  private final List<Part> files = new ArrayList<>();
  private final AtomicInteger refusals = new AtomicInteger();
  private final AtomicInteger singleRefusals = new AtomicInteger();
  final AtomicInteger singleReads = new AtomicInteger();
  private volatile boolean isClosed;

  /** Some pieces that follow each other, with their bytes. */
  record Run(List<LogPiece> pieces, List<byte[]> bytes, byte @Nullable [] digest) {
    long from() {
      return pieces.getFirst().from();
    }

    long until() {
      return pieces.getLast().until();
    }
  }

  MemoryOrigin(List<Run> runs) {
    runs.forEach(run -> files.add(new Part(run)));
  }

  /** Refuses to read whole files so many times. */
  MemoryOrigin refusing(int times) {
    refusals.set(times);
    return this;
  }

  /** Refuses to read single pieces so many times. */
  MemoryOrigin refusingPieces(int times) {
    singleRefusals.set(times);
    return this;
  }

  /** How many reads of single pieces are still to be refused. */
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

  final class Part implements LogOrigin.File {
    private final Run run;

    Part(Run run) {
      this.run = run;
    }

    @Override
    public List<LogPiece> pieces() {
      return run.pieces;
    }

    @Override
    public byte @Nullable [] digest() {
      return run.digest;
    }

    @Override
    public void read(LogPiece piece, MemorySegment target) throws IOException {
      checkOpen();
      if (singleRefusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IOException("refused");
      }
      singleReads.incrementAndGet();
      target.copyFrom(MemorySegment.ofArray(run.bytes.get(run.pieces.indexOf(piece))));
    }

    @Override
    public void readAll(MemorySegment buffer, Visitor visitor) throws IOException {
      for (int i = 0; i < run.pieces.size(); i++) {
        checkOpen();
        if (run.digest != null && refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          throw new IOException("refused");
        }
        MemorySegment bytes = buffer.asSlice(0, run.bytes.get(i).length);
        bytes.copyFrom(MemorySegment.ofArray(run.bytes.get(i)));
        if (!visitor.visit(run.pieces.get(i), bytes)) {
          return;
        }
      }
    }

    private void checkOpen() throws IOException {
      if (isClosed) {
        throw new IOException("the origin was closed");
      }
    }

    @Override
    public String place(LogPiece piece) {
      return "file=memory-" + run.from() + ", offset=" + (piece.from() - run.from());
    }
  }
}

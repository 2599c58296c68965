package io.fasterkv.api;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the log is kept that a store begins with, before all of it is in the store's own directory:
 * some files, each with pieces of the log. The store reads a piece from here when it is asked for
 * what is in it, copies all others when it is told to, and closes this when it has them, or is
 * closed itself. Nothing here may change or go until then. Safe for all threads.
 */
public interface LogOrigin extends Closeable {

  /** The files, in the order of their addresses; they have all pieces from begin to end. */
  List<? extends File> files();

  /** Pieces of a log that follow each other. */
  interface File {
    /** What it has, in order and without a gap. */
    List<LogPiece> pieces();

    /**
     * What {@link io.fasterkv.StoreExport.Digest} has made of the pieces; null if there is none:
     * then all of the file is read before the store is opened.
     */
    byte @Nullable [] digest() throws IOException;

    /** Fills {@code target}, which has the piece's size; whose bytes they are is not looked at. */
    void read(LogPiece piece, MemorySegment target) throws IOException;

    /**
     * Reads all pieces in order.
     *
     * @param buffer has room for the longest
     */
    void readAll(MemorySegment buffer, Visitor visitor) throws IOException;

    /** Names a piece's place for an error message, for example a file and an offset. */
    String place(LogPiece piece);
  }

  /** Takes the pieces of a file. */
  @FunctionalInterface
  interface Visitor {
    /**
     * @param bytes valid until this returns; whose they are is not looked at
     * @return whether to go on
     */
    boolean visit(LogPiece piece, MemorySegment bytes) throws IOException;
  }
}

package io.fasterkv.checkpoint.export;

import io.fasterkv.operation.core.Engine;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.lang.foreign.MemorySegment;

/** A digest of pieces of an export, on a page of scratch memory. */
final class ExportDigest implements StoreExport.Digest {
  private final Engine engine;
  private final StoreExport export;
  private final MemorySegment page;
  private final boolean ownsPage;
  private final RecordDigest digest;
  private boolean isClosed;

  /**
   * @param page for one piece at a time
   * @param ownsPage whether {@link #close} returns the page
   */
  ExportDigest(Engine engine, StoreExport export, MemorySegment page, boolean ownsPage) {
    this.engine = engine;
    this.export = export;
    this.page = page;
    this.ownsPage = ownsPage;
    digest = new RecordDigest(new PieceWalk(engine.layout()), engine::hash);
  }

  @Override
  public void add(LogPiece piece, MemorySegment bytes) {
    checkOpen(piece);
    page.asSlice(0, piece.bytes()).copyFrom(bytes);
    addPage(piece);
  }

  @Override
  public void add(LogPiece piece) {
    checkOpen(piece);
    export.read(piece, page.asSlice(0, piece.bytes()));
    addPage(piece);
  }

  @Override
  public ExportDigest another() {
    return new ExportDigest(engine, export, page, false);
  }

  private void checkOpen(LogPiece piece) {
    if (isClosed) {
      throw new IllegalStateException("the digest is closed: piece=" + piece);
    }
  }

  private void addPage(LogPiece piece) {
    MemorySegment aligned = page.asSlice(0, piece.bytes());
    digest.add(piece.from(), aligned, address -> "piece=" + piece + ", address=" + address);
  }

  @Override
  public int length() {
    return digest.length();
  }

  @Override
  public byte[] bytes() {
    return digest.bytes();
  }

  @Override
  public void close() {
    if (!isClosed && ownsPage) {
      engine.buffers().give(page);
    }
    isClosed = true;
  }
}

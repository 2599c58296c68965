package io.fasterkv.inject;

import io.fasterkv.FasterStore;
import io.fasterkv.MemoryOrigin;
import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.LogDevice;
import io.fasterkv.inject.Op.End;
import io.fasterkv.inject.Op.Kind;
import io.fasterkv.sim.SimulatedDisk;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The log of another store, from which a store starts and which it reads piece by piece. */
final class LazyRestore {
  /** The number of the only checkpoint of a new directory. */
  private static final long FIRST_CHECKPOINT = 1;

  /** No session writes the keys of this session number. */
  static final int SESSION = 9;

  static final int KEYS = 200;
  private static final int PIECES_A_FILE = 2;

  private final List<Run> runs = new ArrayList<>();
  private final byte[] head;

  /** Fills a store and exports it. */
  LazyRestore(Setting setting) {
    StoreConfig config = setting.quiet(new SimulatedDisk().directory());
    try (FasterStore store = FasterStore.open(config, setting.device(config))) {
      try (Hand hand = setting.reader(store)) {
        for (int i = 0; i < KEYS; i++) {
          hand.issue(new Op(Kind.UPSERT, SessionWork.key(SESSION, i), stamp(i)));
        }
      }
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        List<LogPiece> pieces = export.pieces(0);
        for (int next = 0; next < pieces.size(); next += PIECES_A_FILE) {
          runs.add(
              run(export, pieces.subList(next, Math.min(pieces.size(), next + PIECES_A_FILE))));
        }
        head = export.head();
      }
    }
  }

  private static Run run(StoreExport export, List<LogPiece> pieces) {
    List<byte[]> contents = new ArrayList<>();
    try (StoreExport.Digest digest = export.tryDigest()) {
      for (LogPiece piece : pieces) {
        byte[] bytes = new byte[piece.bytes()];
        export.read(piece, MemorySegment.ofArray(bytes));
        digest.add(piece, MemorySegment.ofArray(bytes));
        contents.add(bytes);
      }
      return new Run(pieces, contents, digest.bytes());
    }
  }

  /** Creates the directory from which a store starts; returns the number of its checkpoint. */
  long prepare(StoreConfig config) {
    try (StoreImport.Target target =
        FasterStore.readExport(head, "head").into(config.directory())) {
      target.finish(runs.stream().flatMap(run -> run.pieces().stream()).toList());
      return FIRST_CHECKPOINT;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Opens the store; its own log is empty. */
  FasterStore open(StoreConfig config, LogDevice device) {
    return FasterStore.recover(
        config, RecoveryRequest.newest().from(new MemoryOrigin(runs)), device);
  }

  /** The values that come from the other store. */
  static Values values() {
    Values values = new Values();
    for (int i = 0; i < KEYS; i++) {
      Op op = new Op(Kind.UPSERT, SessionWork.key(SESSION, i), stamp(i));
      op.end = End.DONE;
      values.apply(op);
    }
    return values;
  }

  private static long stamp(int key) {
    return 0x9E3779B97F4A7C15L * (key + 1) >>> 8 | 1;
  }
}

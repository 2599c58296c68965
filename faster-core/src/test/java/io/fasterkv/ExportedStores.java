package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;

/** Stores that are exported and imported, with the code that their tests share. */
abstract class ExportedStores {
  @TempDir Path directory;

  /** The pieces kept so far, by first address. */
  final TreeMap<Long, Kept> kept = new TreeMap<>();

  /** The same as files of several pieces. */
  final TreeMap<Long, Run> files = new TreeMap<>();

  int directories;

  record Kept(LogPiece piece, byte[] bytes) {}

  /** Everything needed to restore a version. */
  record Version(byte[] head, List<Kept> pieces, List<Run> files, Map<Integer, byte[]> model) {
    Version(byte[] head, List<Kept> pieces, Map<Integer, byte[]> model) {
      this(head, pieces, List.of(), model);
    }
  }

  FasterStore open(Version version, SplittableRandom random) throws IOException {
    Path own = directory.resolve("store-" + directories++);
    StoreConfigBuilder builder = small(own, random);
    if (version == null) {
      return FasterStore.open(builder.indexBytes(4096).build());
    }
    StoreImport imported = FasterStore.readExport(version.head, "head");
    builder.indexBytes(indexBytes(imported, random));
    RecoveryRequest request = RecoveryRequest.newest();
    if (random.nextBoolean()) {
      try (StoreImport.Target target = imported.into(own)) {
        target.finish(version.files.stream().flatMap(file -> file.pieces().stream()).toList());
      }
      request = request.from(new MemoryOrigin(version.files).refusing(random.nextInt(3)));
    } else {
      write(imported, version.pieces, own, random);
      request = random.nextBoolean() ? request : request.withoutVerifying();
    }
    FasterStore store = FasterStore.recover(builder.build(), request);
    store.checkpoints().list().forEach(store.checkpoints()::remove);
    if (random.nextBoolean()) {
      store.integration().copyOrigin();
    }
    return store;
  }

  static StoreConfigBuilder small(Path directory, SplittableRandom random) {
    return StoreConfig.builder(directory)
        .memoryBytes(8 << 20)
        .pageBytes(4096)
        .segmentBytes(32768)
        .logMemoryBytes(4096L << random.nextInt(2, 5))
        .scratchBytes(256 << 10)
        .mutableFraction(random.nextInt(3) / 2.0)
        .growingIndex(random.nextBoolean())
        .deleteOnClose(true);
  }

  static long indexBytes(StoreImport imported, SplittableRandom random) {
    return Math.min(1 << 20, imported.leastIndexBytes() * random.nextInt(2, 6));
  }

  static void write(StoreImport imported, List<Kept> pieces, Path into, SplittableRandom random)
      throws IOException {
    try (StoreImport.Target target = imported.into(into)) {
      List<Kept> inAnyOrder = new ArrayList<>(pieces);
      while (!inAnyOrder.isEmpty()) {
        Kept one = inAnyOrder.remove(random.nextInt(inAnyOrder.size()));
        target.write(one.piece, MemorySegment.ofArray(one.bytes), "piece");
      }
      target.finish(pieces.stream().map(Kept::piece).toList());
    }
  }

  /** Reads the new pieces, and returns all pieces that the version needs. */
  List<Kept> keep(StoreExport export) {
    return keep(export, new SplittableRandom(1));
  }

  List<Kept> keep(StoreExport export, SplittableRandom random) {
    export.awaitWritten();
    long from = kept.isEmpty() ? 0 : kept.lastEntry().getValue().piece.until();
    List<LogPiece> fresh = export.pieces(from);
    for (int next = 0; next < fresh.size(); ) {
      int end = Math.min(fresh.size(), next + random.nextInt(1, 6));
      keepFile(export, fresh.subList(next, end), random.nextInt(4) > 0);
      next = end;
    }
    List<LogPiece> all = export.pieces(0);
    List<Kept> needed = all.stream().map(piece -> kept.get(piece.from())).toList();
    assertThat(needed).extracting(Kept::piece).isEqualTo(all);
    assertThat(all.getFirst().from()).isLessThanOrEqualTo(export.beginAddress());
    assertThat(all.getLast().until()).isEqualTo(export.endAddress());
    return needed;
  }

  void keepFile(StoreExport export, List<LogPiece> pieces, boolean withDigest) {
    List<byte[]> contents = new ArrayList<>();
    try (StoreExport.Digest digest = export.tryDigest()) {
      for (LogPiece piece : pieces) {
        byte[] bytes = new byte[piece.bytes()];
        export.read(piece, MemorySegment.ofArray(bytes));
        assertThat(kept.put(piece.from(), new Kept(piece, bytes))).isNull();
        contents.add(bytes);
        digest.add(piece, MemorySegment.ofArray(bytes));
      }
      Run run = new Run(pieces, contents, withDigest ? digest.bytes() : null);
      files.put(run.from(), run);
    }
  }

  /** The files that an export needs, including those of which it needs only a part. */
  List<Run> files(StoreExport export) {
    return files.values().stream().filter(file -> file.until() > export.beginAddress()).toList();
  }

  static void checkRecords(Version version, long seed) {
    Map<Integer, byte[]> seen = new HashMap<>();
    StoreImport.Records records = FasterStore.readExport(version.head, "head").records();
    for (Kept one : version.pieces) {
      records.read(
          one.piece,
          MemorySegment.ofArray(one.bytes),
          "piece",
          (key, value, isTombstone) -> {
            int number = ByteBuffer.wrap(key.toArray()).getInt();
            if (isTombstone) {
              seen.remove(number);
            } else {
              seen.put(number, value.toArray());
            }
          });
    }
    assertThat(seen.keySet()).as("seed " + seed).isEqualTo(version.model.keySet());
    seen.forEach(
        (key, value) -> assertThat(value).as("seed " + seed).isEqualTo(version.model.get(key)));
  }

  static Collection<Integer> seen(FasterStore store) {
    List<Integer> keys = new ArrayList<>();
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        keys.add(ByteBuffer.wrap(scan.key().toArray()).getInt());
      }
    }
    return keys;
  }

  StoreConfigBuilder small(String name) {
    return small(directory.resolve(name));
  }

  static StoreConfigBuilder small(Path own) {
    return StoreConfig.builder(own)
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(32 << 10)
        .segmentBytes(32768)
        .indexBytes(128 << 10)
        .maxIndexBytes(256 << 10)
        .deleteOnClose(true);
  }

  static byte[] value(int key, int generation) {
    return ByteBuffer.allocate(40).putInt(key).putInt(generation).array();
  }
}

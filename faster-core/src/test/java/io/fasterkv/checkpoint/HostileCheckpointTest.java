package io.fasterkv.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Checkpoints;
import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.Seeds;
import io.fasterkv.Session;
import io.fasterkv.UpsertFunctions;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import io.fasterkv.sim.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests forged checkpoints with correct checksums: recoveries, reads, scans and dumps return values
 * or throw an exception of the store, and never crash, loop for ever, or access memory that does
 * not exist.
 */
@Tag("seeds")
class HostileCheckpointTest {
  private static final int KEYS = 200;
  private static final int FORGERIES = 120;

  private final List<String> outcomes = new ArrayList<>();

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void isAnErrorAndNoCrash(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (RecordKind kind : RecordKind.values()) {
      SimulatedDisk disk = filled(kind, random);
      for (int i = 0; i < FORGERIES; i++) {
        long number = 1 + random.nextInt(3);
        SimulatedDisk forged = disk.copy();
        String what = forge(forged, number, random);
        try {
          use(forged, kind, number, random);
        } catch (RuntimeException | Error e) {
          throw new AssertionError(
              "seed " + seed + ", " + kind + ", checkpoint " + number + ": " + what, e);
        }
      }
    }
    assertThat(outcomes).as("seed " + seed).contains("refused", "recovered");
  }

  private static StoreConfig config(SimulatedDisk disk, RecordKind kind) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .recordKind(kind)
        .pageBytes(4096)
        .logMemoryBytes(16384)
        .indexBytes(4096)
        .segmentBytes(16384)
        .scratchBytes(256 << 10)
        .build();
  }

  private static SimulatedDisk filled(RecordKind kind, SplittableRandom random) {
    SimulatedDisk disk = new SimulatedDisk();
    try (FasterStore store = FasterStore.open(config(disk, kind))) {
      for (CheckpointRequest request :
          List.of(
              CheckpointRequest.full(CheckpointKind.FOLD_OVER),
              CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER),
              CheckpointRequest.logOnly(CheckpointKind.SNAPSHOT))) {
        write(store, kind, random);
        store.checkpoints().take(request);
      }
    }
    return disk;
  }

  private static void write(FasterStore store, RecordKind kind, SplittableRandom random) {
    if (kind == RecordKind.LONGS) {
      try (LongSession<Object> session = store.newSession().longs(LongFunctions.sum())) {
        for (int i = 0; i < KEYS; i++) {
          session.upsert(random.nextInt(KEYS), i, null);
        }
      }
    } else {
      try (Session<Object, Object, Object> session = spans(store)) {
        for (int i = 0; i < KEYS; i++) {
          int bytes = random.nextInt(30) == 0 ? 6000 : random.nextInt(60);
          session.upsert(key(random.nextInt(KEYS)), ByteSpan.of(new byte[bytes]), null);
        }
      }
    }
  }

  /** Changes something and corrects all checksums. */
  private static String forge(SimulatedDisk disk, long number, SplittableRandom random) {
    String name = "checkpoint-" + number + ".manifest";
    byte[] bytes = disk.content(name);
    CheckpointManifest manifest = ManifestCodec.decode(ByteBuffer.wrap(bytes), Path.of(name));
    return switch (random.nextInt(3)) {
      case 0 -> {
        int at = random.nextInt(12, bytes.length - Integer.BYTES);
        bytes[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xFF);
        int end = bytes.length - Integer.BYTES;
        int crc = Checksums.crc32c(MemorySegment.ofArray(bytes).asSlice(0, end));
        disk.put(name, ByteBuffer.wrap(bytes).putInt(end, crc).array());
        yield "manifest at " + at;
      }
      case 1 -> forgeImage(disk, name, manifest, random);
      default -> forgeLog(disk, name, manifest, random);
    };
  }

  private static String forgeImage(
      SimulatedDisk disk, String name, CheckpointManifest manifest, SplittableRandom random) {
    Image image = manifest.index().image();
    String file = "checkpoint-" + image.of() + ".index";
    byte[] bytes = disk.content(file);
    int at = random.nextInt(bytes.length / Long.BYTES) * Long.BYTES;
    forgeWord(bytes, at, random);
    disk.put(file, bytes);
    List<Integer> crcs = new ArrayList<>();
    for (int from = 0; from < bytes.length; from += image.chunkBytes()) {
      int count = Math.min(image.chunkBytes(), bytes.length - from);
      crcs.add(Checksums.crc32c(MemorySegment.ofArray(bytes).asSlice(from, count)));
    }
    IndexPart index = manifest.index();
    Image forged =
        new Image(image.of(), image.start(), image.overflowUsed(), image.chunkBytes(), crcs);
    put(
        disk,
        name,
        new CheckpointManifest(
            manifest.number(),
            manifest.kind(),
            manifest.shape(),
            manifest.cut(),
            manifest.log(),
            new IndexPart(
                index.mainBuckets(),
                index.tagBase(),
                index.overflowUsed(),
                index.isSharing(),
                forged)));
    return "image at " + at;
  }

  private static String forgeLog(
      SimulatedDisk disk, String name, CheckpointManifest manifest, SplittableRandom random) {
    List<Extent> extents = new ArrayList<>(manifest.log().extents());
    int chosen = random.nextInt(extents.size());
    Extent extent = extents.get(chosen);
    if (extent.from() >= manifest.deviceEnd()) {
      return "nothing";
    }
    long segment = manifest.shape().segmentBytes();
    String file = "log." + extent.from() / segment;
    byte[] bytes = disk.content(file);
    int from = (int) (extent.from() % segment);
    int count = (int) (extent.until() - extent.from());
    int at = from + random.nextInt(count / Long.BYTES) * Long.BYTES;
    forgeWord(bytes, at, random);
    disk.put(file, bytes);
    int crc = Checksums.crc32c(MemorySegment.ofArray(bytes).asSlice(from, count));
    extents.set(chosen, new Extent(extent.from(), extent.until(), crc));
    LogPart log = new LogPart(extents, manifest.log().snapshot(), manifest.log().voids());
    put(
        disk,
        name,
        new CheckpointManifest(
            manifest.number(),
            manifest.kind(),
            manifest.shape(),
            manifest.cut(),
            log,
            manifest.index()));
    return "log at " + (extent.from() + at - from);
  }

  /** Changes a bit, a byte, or a whole word. */
  private static void forgeWord(byte[] bytes, int at, SplittableRandom random) {
    switch (random.nextInt(3)) {
      case 0 -> bytes[at + random.nextInt(Long.BYTES)] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at + random.nextInt(Long.BYTES)] = (byte) random.nextInt();
      default -> ByteBuffer.wrap(bytes).putLong(at, random.nextLong());
    }
  }

  private static void put(SimulatedDisk disk, String name, CheckpointManifest manifest) {
    ByteBuffer encoded = ManifestCodec.encode(manifest);
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    disk.put(name, bytes);
  }

  private void use(SimulatedDisk disk, RecordKind kind, long number, SplittableRandom random) {
    attempt(() -> {
      Checkpoints.of(disk.directory()).dump(new CheckpointToken(number), record -> {});
      return "dumped";
    });
    RecoveryRequest request = RecoveryRequest.of(new CheckpointToken(number));
    attempt(() -> {
      StoreConfig config = config(disk, kind);
      RecoveryRequest any = random.nextInt(4) == 0 ? request.withoutIndex() : request;
      try (FasterStore store = FasterStore.recover(config, any)) {
        readAll(store, kind);
        attempt(() -> scan(store));
        return "recovered";
      }
    });
  }

  private void readAll(FasterStore store, RecordKind kind) {
    if (kind == RecordKind.LONGS) {
      try (LongSession<Object> session = store.newSession().longs(LongFunctions.sum())) {
        for (int key = 0; key < KEYS; key++) {
          long one = key;
          attempt(() -> session.read(one, null).name());
        }
      }
    } else {
      try (Session<Object, Object, Object> session = spans(store)) {
        for (int key = 0; key < KEYS; key++) {
          ByteSpan one = key(key);
          attempt(() -> session.read(one, one, one, null).name());
        }
      }
    }
  }

  private static String scan(FasterStore store) {
    try (var cut = store.log().cut();
        var scan = cut.scan()) {
      while (scan.next()) {
        scan.value();
      }
    }
    return "scanned";
  }

  private interface Use {
    String run();
  }

  /** Ignores exceptions of the store, and no other exceptions. */
  private void attempt(Use use) {
    try {
      outcomes.add(use.run());
    } catch (StoreException e) {
      outcomes.add("refused");
    }
  }

  private static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(8).putInt(key).array());
  }

  private static Session<Object, Object, Object> spans(FasterStore store) {
    return store.newSession().spans(new UpsertFunctions());
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.statistics.MemoryUse;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests reads of a store that is restored lazily, and how its log is copied in the background. */
class LazyRestoreTest extends LazyRestoreStores {
  @Test
  void allIsReadWhereItCameFromWhileNoFileCanBeCopied() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER);
    try (FasterStore store = open(runs, origin)) {
      assertHolds(store, KEYS / 2, KEYS, 1);
      assertThat(origin.singleReads.get()).isPositive();
      assertThat(origin.isClosed()).isFalse();
      upsert(store, 0, KEYS / 2, 2);
      assertHolds(store, 0, KEYS / 2, 2);
      store.log().compact();
      assertHolds(store, 0, KEYS / 2, 2);
      assertHolds(store, KEYS / 2, KEYS, 1);
      StoreInvariants.check(store);
    }
    assertThat(origin.isClosed()).isTrue();
  }

  @Test
  void eachPieceIsFetchedOnceAndTheOriginIsClosedWhenAllAreHere() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(3);
    try (FasterStore store = open(runs, origin)) {
      Path linked = Files.createDirectory(directory.resolve("linked"));
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        export.linkSegments(linked);
      }
      assertThat(origin.isClosed()).isTrue();
      assertThat(store.integration().bytesToCopy()).isZero();
      int reads = origin.singleReads.get();
      assertHolds(store, 0, KEYS, 1);
      assertThat(origin.singleReads.get()).isEqualTo(reads);
      try (Stream<Path> segments = Files.list(linked)) {
        long bytes = segments.mapToLong(file -> file.toFile().length()).sum();
        assertThat(bytes).isGreaterThanOrEqualTo(runs.getLast().until());
      }
    }
  }

  /** A removed segment is not created again as a file that would never be removed. */
  @Test
  void truncatedBlocksAreNotFetched() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(1);
    try (FasterStore store = open(runs, origin)) {
      store.log().truncate(runs.getLast().until());
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        export.linkSegments(Files.createDirectory(directory.resolve("linked")));
      }
      long kept = runs.getLast().until() / 32768;
      try (Stream<Path> files = Files.list(directory.resolve("second"))) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .filteredOn(name -> name.startsWith("log."))
            .allMatch(name -> Long.parseLong(name.substring(4)) >= kept);
      }
    }
  }

  /** Blocks that do not fit on the disk are read from the origin each time. */
  @Test
  void aFullDiskDoesNotPreventReads() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second"));
    ScriptedDevice full =
        new ScriptedDevice(new FileDevice(config.directory(), config.segmentBytes()));
    full.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeWrite(long address, long bytes) throws IOException {
            throw new NoSpaceException(new IOException("full"));
          }
        });
    MemoryOrigin origin = new MemoryOrigin(runs);
    Lines lines = new Lines();
    try (LazyRestoreDevice device = new LazyRestoreDevice(full, origin, lines)) {
      LogPiece piece = runs.get(1).pieces().get(2);
      byte[] into = new byte[300];
      device.readNow(piece.from() + 64, MemorySegment.ofArray(into));
      assertThat(into).isEqualTo(Arrays.copyOfRange(runs.get(1).bytes().get(2), 64, 364));
      assertThat(device.missingBytes()).isEqualTo(runs.getLast().until());
      assertThat(lines.count("WARNING a block of the log cannot be stored on the full disk "))
          .isPositive();
    }
  }

  /** A former page, with all of its bytes on the heap. */
  @Test
  void aMissReadsItsBlocksAndNoMore() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs, 512).refusing(FOR_EVER);
    try (FasterStore store = open(runs, origin)) {
      assertHolds(store, 0, KEYS, 1);
      assertThat(origin.longestRead()).isPositive().isLessThanOrEqualTo(1024);
    }
  }

  @Tag("slow")
  @Test
  void manyThreadsCopyALogAndBuildItsIndex() throws Exception {
    for (boolean hasDigest : List.of(true, false)) {
      List<Run> runs = new ArrayList<>();
      for (Run run : exported()) {
        runs.add(new Run(run.pieces(), run.bytes(), hasDigest ? run.digest() : null));
      }
      StoreConfig config = prepare(runs, config("second"));
      MemoryOrigin origin = new MemoryOrigin(runs).streams(16).refusing(5);
      RecoveryRequest request = RecoveryRequest.newest().from(origin);
      try (FasterStore store = FasterStore.recover(config, request)) {
        store.checkpoints().list().forEach(store.checkpoints()::remove);
        store.integration().copyOrigin();
        assertHolds(store, 0, KEYS, 1);
        upsert(store, 0, KEYS / 2, 2);
        store.checkpoints().take();
        assertThat(store.integration().bytesToCopy()).isZero();
        assertHolds(store, 0, KEYS / 2, 2);
        assertHolds(store, KEYS / 2, KEYS, 1);
        StoreInvariants.check(store);
      }
      assertThat(origin.isClosed()).isTrue();
      try (Stream<Path> files = Files.walk(directory)) {
        files
            .sorted(Comparator.reverseOrder())
            .filter(file -> !file.equals(directory))
            .forEach(file -> file.toFile().delete());
      }
    }
  }

  /** A small store has fewer threads; the fill's memory is part of the store's budget. */
  @Test
  void theFillUsesAnEighthOfTheScratchMemoryAtMost() throws Exception {
    List<Run> runs = exported();
    int block = 32 << 10;
    for (long memory : List.of(1L << 20, 256L << 20)) {
      long scratch = Math.max(384 << 10, memory / 32);
      StoreConfig config =
          prepare(runs, config("memory-" + memory).memoryBytes(memory).scratchBytes(scratch));
      CountDownLatch held = new CountDownLatch(1);
      MemoryOrigin origin = new MemoryOrigin(runs, block).streams(16).holding(held);
      try (FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin))) {
        store.checkpoints().list().forEach(store.checkpoints()::remove);
        long before = store.statistics().memory().scratchLentBytes();
        store.integration().copyOrigin();
        // Blocks end where pieces end, and pieces where pages end.
        long longest = Math.min(block, config.pageBytes());
        long threads = Math.min(Math.min(16, scratch / 8 / longest), runs.size());
        Pause.until(() -> origin.heldReads() == threads);
        MemoryUse use = store.statistics().memory();
        assertThat(use.scratchLentBytes() - before)
            .isGreaterThanOrEqualTo(threads * longest)
            .isLessThanOrEqualTo(scratch / 8);
        assertThat(use.usedBytes()).isLessThanOrEqualTo(memory);
        held.countDown();
        store.checkpoints().take();
        assertThat(store.integration().bytesToCopy()).isZero();
        assertThat(store.statistics().memory().scratchLentBytes()).isEqualTo(before);
        assertHolds(store, 0, KEYS, 1);
      }
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.ChunkCursor;
import io.fasterkv.log.ChunkWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LargeReader;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that {@link LargeRaceTest} would detect torn large values: it runs a reader and a writer
 * that are broken on purpose in a forced interleaving, at each of their steps, and the real ones in
 * the same interleaving.
 */
class LargeDetectorTest {
  private static final int PAGE_BYTES = 4096;
  private static final int PAGES = 16;
  private static final int MAX_BYTES = 36_000;
  private static final long NUMBER = 7;

  @TempDir Path directory;

  private final Arena arena = Arena.ofShared();
  private final StampedFunctions functions = new StampedFunctions(MAX_BYTES);
  private final KeyBytes key = new KeyBytes();
  private final List<Long> stamps = new ArrayList<>();
  private long lastStamp;
  private FasterStore store;
  private Session<Long, StampedFunctions.Result, StampedFunctions.Reader> session;
  private Engine engine;
  private HybridLog log;
  private EpochUser user;

  @BeforeEach
  void open() {
    MemorySegment keyMemory = arena.allocate(Long.BYTES, Long.BYTES);
    MemorySegment.copy(key().memory(), 0, keyMemory, 0, Long.BYTES);
    key.set(keyMemory, Long.BYTES);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(PAGES * PAGE_BYTES)
            .scratchBytes(1 << 20)
            .indexBytes(4096)
            .build();
    store = FasterStore.open(config, new MemoryDevice());
    session = store.newSession().spans(functions);
    engine = Insides.engine(store);
    log = engine.log();
    user = engine.epochs().register();
  }

  @AfterEach
  void close() {
    user.close();
    session.close();
    store.close();
    arena.close();
  }

  /**
   * The reader has found all chunks in memory and copies them without checking that they are still
   * there.
   */
  @Test
  void aReaderWithoutASecondLookSeesATornValue() {
    for (int step = 0; ; step++) {
      upsert(10 + step);
      HeadOnceReader reader = new HeadOnceReader();
      reader.look(anchor());
      if (step >= reader.chunks()) {
        return;
      }
      reader.copy(step);
      evict();
      reader.copy(reader.chunks());
      assertThat(catchThrowable(reader::check))
          .as("after " + step + " of " + reader.chunks() + " chunks")
          .isInstanceOf(IllegalStateException.class);
    }
  }

  /** The same at each step, with the real reader. */
  @Test
  void aReaderThatChecksEachChunkSeesTheWholeValue() {
    for (int step = 0; ; step++) {
      upsert(10 + step);
      MemorySegment value = arena.allocate(MAX_BYTES, Long.BYTES);
      LargeReader reader = new LargeReader(log, user);
      ChunkCursor cursor = reader.cursor();
      LargeReader.Sink sink =
          (memory, piece) ->
              MemorySegment.copy(
                  memory, piece.pieceOffset(), value, piece.position(), piece.pieceBytes());
      LargeAnchor anchor = anchor();
      long pinned = log.pins().pin();
      cursor.begin(anchor, key.memory(), 0, key.length());
      int chunks = 0;
      while (!cursor.isAtEnd()) {
        if (chunks++ == step) {
          evict();
        }
        if (!reader.takeOneFromMemory(sink)) {
          reader.takeFromDisk(arena.allocate(PAGE_BYTES, Long.BYTES), sink);
        }
      }
      log.pins().unpin(pinned);
      assertThat(checked(value, anchor.bytes())).isEqualTo(10 + step);
      if (chunks <= step) {
        return;
      }
    }
  }

  /** The anchor is in the chain before all of its chunks are in the log. */
  @Test
  void anAnchorThatIsPublishedBeforeItsChunksIsCaught() {
    for (int chunks = 1; ; chunks++) {
      upsert(chunks);
      EarlyAnchor writer = new EarlyAnchor(1000 + chunks);
      if (writer.publishAfter(chunks)) {
        assertThat(chunks).isGreaterThan(5);
        assertThat(read()).isEqualTo(1000 + chunks);
        return;
      }
      assertThat(catchThrowable(this::read)).as("after " + chunks + " chunks").isNotNull();
      writer.publishAfter(Integer.MAX_VALUE);
      assertThat(read()).isEqualTo(1000 + chunks);
    }
  }

  /** The version that a session reads. */
  private long read() {
    StampedFunctions.Result result = new StampedFunctions.Result();
    assertThat(session.read(key(), 0L, result, null)).isEqualTo(Status.FOUND);
    return number(result.stamp);
  }

  private static ByteSpan key() {
    ByteSpan span = ByteSpan.of(new byte[Long.BYTES]);
    span.putLong(0, NUMBER);
    return span;
  }

  /** A value of about eight pages. */
  private ByteSpan value(long stamp) {
    byte[] bytes = new byte[functions.length(stamp)];
    ByteSpan value = ByteSpan.of(bytes);
    functions.write(NUMBER, stamp, 1, value);
    return value;
  }

  /** The stamp of version {@code number} among those whose value has about eight pages. */
  private long stamp(long number) {
    while (stamps.size() <= number) {
      lastStamp++;
      if (functions.length(lastStamp) > MAX_BYTES - 6000) {
        stamps.add(lastStamp);
      }
    }
    return stamps.get((int) number);
  }

  private long number(long stamp) {
    return stamps.indexOf(stamp);
  }

  private void upsert(long number) {
    session.upsert(key(), value(stamp(number)), null);
  }

  /** Writes other versions until the frames of the earlier records have been reused. */
  private void evict() {
    long until = log.tailAddress() + (PAGES + 1) * PAGE_BYTES;
    for (long number = 5000; log.headAddress() < until; number++) {
      upsert(number % 3 + 5000);
    }
  }

  private long checked(MemorySegment memory, int bytes) {
    byte[] copy = memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    StampedFunctions.Result result = new StampedFunctions.Result();
    functions.check(NUMBER, ByteSpan.of(copy), result);
    return number(result.stamp);
  }

  private LargeAnchor anchor() {
    IndexEntry entry = new IndexEntry();
    user.protect();
    try {
      assertThat(engine.index().enter(engine.hash(key), entry)).isTrue();
      assertThat(engine.index().find(engine.hash(key), entry)).isTrue();
      LargeAnchor anchor = LargeAnchor.read(log.memory(), log.offset(entry.address()));
      assertThat(anchor).isNotNull();
      return anchor;
    } finally {
      user.unprotect();
    }
  }

  /** Broken: checks once where the chunks are, and then copies them without another check. */
  private final class HeadOnceReader {
    private record Piece(long offset, int position, int bytes) {}

    private final List<Piece> pieces = new ArrayList<>();
    private final MemorySegment value = arena.allocate(MAX_BYTES, Long.BYTES);
    private int copied;
    private int bytes;

    void look(LargeAnchor anchor) {
      bytes = anchor.bytes();
      LargeReader reader = new LargeReader(log, user);
      reader.cursor().begin(anchor, key.memory(), 0, key.length());
      reader.takeFromMemory((memory, piece) ->
          pieces.add(new Piece(piece.pieceOffset(), piece.position(), piece.pieceBytes())));
      assertThat(reader.cursor().isAtEnd()).isTrue();
    }

    int chunks() {
      return pieces.size();
    }

    void copy(int until) {
      for (; copied < until; copied++) {
        Piece piece = pieces.get(copied);
        MemorySegment.copy(log.memory(), piece.offset, value, piece.position, piece.bytes);
      }
    }

    void check() {
      checked(value, bytes);
    }
  }

  /** Broken: puts the anchor into the chain while chunks are missing. */
  private final class EarlyAnchor {
    private final ByteSpan value;
    private final ChunkWriter writer = new ChunkWriter(log, key);
    private int done;

    EarlyAnchor(long number) {
      value = value(stamp(number));
      writer.begin();
    }

    /**
     * Writes a number of chunks, or all, and puts the anchor into the chain; returns whether all
     * were written.
     */
    boolean publishAfter(int chunks) {
      for (int written = 0; written < chunks && done < value.length(); ) {
        int count = writeOne();
        done += count;
        written += count > 0 ? 1 : 0;
      }
      LargeAnchor found = writer.anchor();
      publish(new LargeAnchor(value.length(), found.newestBytes(), found.newest(), found.oldest()));
      return done == value.length();
    }

    private int writeOne() {
      user.protect();
      try {
        int count =
            writer.writeFirst(value.memory(), value.offset() + done, value.length() - done, done);
        log.assist();
        return count;
      } finally {
        user.unprotect();
      }
    }

    private void publish(LargeAnchor anchor) {
      while (!tryPublish(anchor)) {
        Thread.onSpinWait();
      }
    }

    private boolean tryPublish(LargeAnchor anchor) {
      SpanRecord layout = SpanRecord.INSTANCE;
      IndexEntry entry = new IndexEntry();
      long bytes = layout.recordBytes(key.length(), LargeAnchor.VALUE_BYTES);
      user.protect();
      try {
        assertThat(engine.index().enter(engine.hash(key), entry)).isTrue();
        engine.index().findOrCreate(engine.hash(key), entry);
        long address = log.allocate(bytes);
        if (address == HybridLog.RETRY) {
          log.assist();
          return false;
        }
        long record = log.offset(address);
        layout.create(log.memory(), record, bytes, key, entry.address());
        anchor.write(log.memory(), record);
        long info = RecordInfo.complete(entry.address(), RecordInfo.LARGE);
        Words.storeRelease(log.memory(), record, info);
        return engine.index().compareAndSet(entry, address);
      } finally {
        user.unprotect();
      }
    }
  }
}

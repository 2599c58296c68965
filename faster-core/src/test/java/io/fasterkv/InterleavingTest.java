package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.operation.core.Engine;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests forced interleavings: one thread stops in a callback in the middle of an operation, while
 * other threads run the operations that could break the store.
 */
class InterleavingTest {
  private static final int PAGE_BYTES = 4096;
  private static final ByteSpan KEY = HashedKeys.numbered(5, 1);

  @TempDir Path directory;

  private final MemoryDevice device = new MemoryDevice();

  private FasterStore open(RecordKind kind) {
    return FasterStore.open(config(kind), device);
  }

  private FasterStore recover(RecordKind kind, CheckpointToken token) {
    return FasterStore.recover(config(kind), token, device);
  }

  private StoreConfig config(RecordKind kind) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(4 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(4096)
        .recordKind(kind)
        .keyHash(HashedKeys::hash)
        .build();
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(FasterStore store) {
    return store.newSession().spans(new BytesFunctions());
  }

  private static byte[] read(FasterStore store, ByteSpan key) {
    try (var session = session(store)) {
      var result = new BytesFunctions.Result();
      return session.read(key, null, result, null) == Status.FOUND ? result.value : null;
    }
  }

  /** Four records on a page. */
  private static void fill(
      Session<byte[], BytesFunctions.Result, Object> session, int from, int until) {
    for (int i = from; i < until; i++) {
      session.upsert(HashedKeys.numbered(i, 2), ByteSpan.of(new byte[900]), null);
    }
  }

  /** An update in place is in progress when the record becomes read-only: another update waits. */
  @Test
  void anUpdateDoesNotCopyARecordThatIsBeingUpdatedInPlace() {
    try (FasterStore store = open(RecordKind.LONGS);
        LongSession<Void> setUp = store.newSession().longs(LongFunctions.sum())) {
      setUp.rmw(1, 1, null);
      Pause pause = new Pause();
      pause.start(() -> {
        try (var session = store.newSession().longs(new SlowSum(pause))) {
          assertThat(session.rmw(1, 1, null)).isEqualTo(Status.UPDATED_IN_PLACE);
        }
      });
      store.log().cut().close();
      AtomicReference<Status> status = new AtomicReference<>();
      Thread other =
          Pause.begin(() -> {
            try (var session = store.newSession().longs(LongFunctions.<Void>sum())) {
              status.set(session.rmw(1, 1, null));
            }
          });
      Pause.awaitWaiting(other);
      pause.finish();
      Pause.join(other);
      assertThat(status.get()).isEqualTo(Status.COPIED);
      setUp.read(1, null);
      assertThat(setUp.value()).isEqualTo(3);
    }
  }

  /** A blind update does not wait: the update in place counts as the earlier one. */
  @Test
  void anUpsertGoesAheadOfAnUpdateInPlaceThatIsUnderWay() {
    try (FasterStore store = open(RecordKind.LONGS);
        LongSession<Void> setUp = store.newSession().longs(LongFunctions.sum())) {
      setUp.rmw(1, 1, null);
      Pause pause = new Pause();
      pause.start(() -> {
        try (var session = store.newSession().longs(new SlowSum(pause))) {
          session.rmw(1, 1, null);
        }
      });
      store.log().cut().close();
      assertThat(setUp.upsert(1, 70, null)).isEqualTo(Status.COPIED);
      pause.finish();
      setUp.read(1, null);
      assertThat(setUp.value()).isEqualTo(70);
    }
  }

  /** Nothing of a page is written while a record on it may still change. */
  @Test
  void aCheckpointWaitsForAnUpdateInPlaceThatIsUnderWay() {
    AtomicReference<CheckpointToken> token = new AtomicReference<>();
    try (FasterStore store = open(RecordKind.LONGS)) {
      try (var setUp = store.newSession().longs(LongFunctions.<Void>sum())) {
        setUp.rmw(1, 1, null);
      }
      Pause pause = new Pause();
      pause.start(() -> {
        try (var session = store.newSession().longs(new SlowSum(pause))) {
          session.rmw(1, 1, null);
        }
      });
      Thread checkpoint = Pause.begin(() -> token.set(store.checkpoints().take()));
      Pause.awaitWaiting(checkpoint);
      assertThat(Insides.engine(store).log().flushedAddress()).isEqualTo(64);
      pause.finish();
      Pause.join(checkpoint);
    }
    try (FasterStore store = recover(RecordKind.LONGS, token.get());
        var session = store.newSession().longs(LongFunctions.<Void>sum())) {
      session.read(1, null);
      assertThat(session.value()).isEqualTo(2);
    }
  }

  /**
   * The frame of a page that a thread is reading is not reused; a thread that needs the frame
   * waits.
   */
  @Test
  void aPageIsNotReusedUnderAReader() {
    try (FasterStore store = open(RecordKind.SPANS)) {
      byte[] before = new byte[100];
      Arrays.fill(before, (byte) 7);
      try (var session = session(store)) {
        session.upsert(KEY, ByteSpan.of(before), null);
        fill(session, 1, 6);
      }
      // The whole first page is on disk and in memory.
      store.checkpoints().take();
      Pause pause = new Pause();
      AtomicReference<byte[]> seen = new AtomicReference<>();
      pause.start(() -> {
        SlowFunctions slow = new SlowFunctions();
        slow.beforeRead = pause::here;
        try (var session = store.newSession().spans(slow)) {
          var result = new BytesFunctions.Result();
          session.read(KEY, null, result, null);
          seen.set(result.value);
        }
      });
      Thread writer =
          Pause.begin(() -> {
            try (var session = session(store)) {
              fill(session, 6, 100);
            }
          });
      Pause.awaitWaiting(writer);
      assertThat(Insides.engine(store).log().tailAddress()).isLessThanOrEqualTo(4 * PAGE_BYTES);
      pause.finish();
      Pause.join(writer);
      assertThat(seen.get()).isEqualTo(before);
      assertThat(read(store, KEY)).isEqualTo(before);
    }
  }

  /** A session that is idle, or has stopped between two operations, delays no other. */
  @Test
  void anIdleSessionDelaysNoOther() {
    try (FasterStore store = open(RecordKind.SPANS);
        var idle = session(store);
        var busy = session(store)) {
      idle.upsert(KEY, ByteSpan.of(new byte[10]), null);
      fill(busy, 0, 100);
      assertThat(store.checkpoints().take().number()).isEqualTo(1);
      assertThat(read(store, KEY)).hasSize(10);
    }
  }

  /** While a copy is made that outgrows its record, other updates wait, and then find the copy. */
  @Test
  void anUpdateWaitsForACopyOfItsRecord() {
    try (FasterStore store = open(RecordKind.SPANS)) {
      try (var session = session(store)) {
        session.rmw(KEY, new byte[8], null);
      }
      Pause pause = new Pause();
      pause.start(() -> {
        SlowFunctions slow = new SlowFunctions();
        slow.beforeCopy = pause::here;
        try (var session = store.newSession().spans(slow)) {
          session.rmw(KEY, new byte[8], null);
        }
      });
      AtomicReference<Status> status = new AtomicReference<>();
      Thread other =
          Pause.begin(() -> {
            try (var session = session(store)) {
              status.set(session.rmw(KEY, new byte[8], null));
            }
          });
      assertThat(status.get()).isNull();
      pause.finish();
      Pause.join(other);
      assertThat(read(store, KEY)).hasSize(24);
      StoreInvariants.check(store);
    }
  }

  /**
   * A new key's record is allocated. Before the record enters its chain, another key with the same
   * tag is inserted above it and deleted, and the entry is freed and created again. The first
   * record then enters the same empty entry: it is the newer one, at the lower address.
   */
  @Test
  void aRecordThatIsPublishedLateIsInTheCutAndInTheCheckpoint() {
    CheckpointToken token;
    try (FasterStore store = open(RecordKind.SPANS)) {
      Pause pause = new Pause();
      pause.start(() -> {
        SlowFunctions slow = new SlowFunctions();
        slow.beforeInitial = pause::here;
        try (var session = store.newSession().spans(slow)) {
          assertThat(session.rmw(KEY, new byte[] {1}, null)).isEqualTo(Status.CREATED);
        }
      });
      Engine engine = Insides.engine(store);
      try (var session = session(store)) {
        session.upsert(KEY, ByteSpan.of(new byte[] {2}), null);
        assertThat(session.delete(KEY, null)).isEqualTo(Status.FOUND);
      }
      // Like an operation that is about to insert.
      engine.index().soleTable().findOrCreate(5, new IndexEntry());
      pause.finish();
      assertThat(read(store, KEY)).isEqualTo(new byte[] {1});
      StoreInvariants.check(store);
      token = store.checkpoints().take();
    }
    try (FasterStore store = recover(RecordKind.SPANS, token)) {
      assertThat(read(store, KEY)).isEqualTo(new byte[] {1});
      StoreInvariants.check(store);
    }
  }

  /** {@link BytesFunctions} that stop at given places. */
  private static final class SlowFunctions extends AppendingFunctions {
    private Runnable beforeRead = () -> {};
    private Runnable beforeCopy = () -> {};
    private Runnable beforeInitial = () -> {};

    @Override
    public void singleReader(
        ByteSpan key,
        byte[] input,
        ByteSpan value,
        BytesFunctions.Result output,
        RecordView record) {
      beforeRead.run();
      super.singleReader(key, input, value, output, record);
    }

    @Override
    public void initialUpdater(
        ByteSpan key,
        byte[] input,
        ByteSpan value,
        BytesFunctions.Result output,
        RecordView record) {
      beforeInitial.run();
      super.initialUpdater(key, input, value, output, record);
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        byte[] input,
        ByteSpan oldValue,
        ByteSpan newValue,
        BytesFunctions.Result output,
        RecordView record) {
      beforeCopy.run();
      super.copyUpdater(key, input, oldValue, newValue, output, record);
    }
  }
}

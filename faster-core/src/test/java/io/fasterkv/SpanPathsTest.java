package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.CopyReads;
import java.lang.StackWalker.Option;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the fast path of keys of any length: which operations take it, and the classes created for
 * it.
 */
class SpanPathsTest {
  private static final int PAGE_BYTES = 4096;

  /** Header, key, and a number. */
  private static final int SHORT_RECORD_BYTES = 24 + 24 + 8;

  /** Operations of a store before it defines a class, and from then on before the next one. */
  private static final long WITHOUT_CLASS =
      Long.getLong("io.fasterkv.operationsBeforeAClass", 1 << 20);

  private static final int ABSENT = -1;

  @TempDir Path directory;

  private final Witness functions = new Witness();

  @Test
  void ordinaryRecordsInMemoryTakeTheFastPath() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> session = session(store)) {
      long before = session.serial();
      assertThat(upsert(session, 1, 10)).isEqualTo(Status.CREATED);
      assertThat(functions.wasShort).isFalse();

      assertThat(upsert(session, 1, 20)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(functions.wasShort).isTrue();
      assertThat(rmw(session, 1, 5)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(functions.wasShort).isTrue();
      assertThat(read(session, 1)).isEqualTo(25);
      assertThat(functions.wasShort).isTrue();
      assertThat(session.serial()).isEqualTo(before + 4);
    }
  }

  @Test
  void readOnlyRecordsAreReadOnTheFastPathAndCopiedOnTheSlowPath() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> session = session(store)) {
      upsert(session, 1, 10);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));

      assertThat(read(session, 1)).isEqualTo(10);
      assertThat(functions.wasShort).isTrue();
      assertThat(rmw(session, 1, 5)).isEqualTo(Status.COPIED);
      assertThat(functions.wasShort).isFalse();
      assertThat(rmw(session, 1, 5)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(functions.wasShort).isTrue();
      assertThat(read(session, 1)).isEqualTo(20);
    }
  }

  @Test
  void readsThatCopyReadOnlyRecordsTakeTheSlowPath() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> session = session(store)) {
      upsert(session, 1, 10);
      session.copyReads(CopyReads.FROM_DISK_AND_READ_ONLY);
      assertThat(read(session, 1)).isEqualTo(10);
      assertThat(functions.wasShort).isFalse();

      session.copyReads(CopyReads.NEVER);
      assertThat(read(session, 1)).isEqualTo(10);
      assertThat(functions.wasShort).isTrue();
    }
  }

  @Test
  void deletedKeysAreNotFound() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> session = session(store)) {
      upsert(session, 1, 10);
      session.delete(key(1), null);
      assertThat(session.read(key(1), null, new long[1], null)).isEqualTo(Status.NOT_FOUND);
      assertThat(rmw(session, 1, 5)).isEqualTo(Status.CREATED);
      assertThat(read(session, 1)).isEqualTo(5);
    }
  }

  /**
   * At a short record at the end of memory, the prefetch does not cover as many cache lines as two
   * long records needed before.
   */
  @Tag("slow")
  @Test
  void prefetchingEndsWithTheMemory() {
    int keys = (2 << 20) / SHORT_RECORD_BYTES;
    try (FasterStore store = open("a", 2 << 20, 512 << 10);
        Session<long[], long[], Object> session = session(store)) {
      for (int key = 0; key < keys; key++) {
        upsert(session, key, key);
      }
      for (int longer = keys; longer < keys + 2; longer++) {
        session.upsert(key(longer), ByteSpan.of(new byte[1000]), null);
      }
      int inMemory = 0;
      for (int key = 0; key < keys; key++) {
        assertThat(read(session, keys) + read(session, keys + 1)).isZero();
        assertThat(read(session, key)).isEqualTo(key);
        inMemory += functions.wasShort ? 1 : 0;
      }
      assertThat(inMemory).isBetween(keys / 4, keys - 1);
    }
  }

  @Test
  void aClassIsDefinedAfterEnoughOperationsOfAllSessions() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> first = store.newSession().spans(functions);
        Session<long[], long[], Object> second = store.newSession().spans(functions)) {
      for (long i = 0; i < WITHOUT_CLASS / 2; i++) {
        first.read(key(ABSENT), null, new long[1], null);
      }
      store.index().grow();
      assertEnough(WITHOUT_CLASS / 2 + awaitClass(second) - 1);
      assertThat(awaitClass(first)).isEqualTo(1);
      store.index().grow();
      assertEnough(2 + awaitClass(second) - 1);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      assertThat(awaitClass(second)).isEqualTo(1);
      store.index().grow();
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      assertEnough(2 + awaitClass(first) - 1);
    }
  }

  /**
   * Asserts that the store made this many operations between two classes: a session asks for one
   * only once in some operations.
   */
  private static void assertEnough(long operations) {
    long asksOnceIn = Math.clamp(WITHOUT_CLASS, 1, 64);
    assertThat(operations).isBetween(WITHOUT_CLASS, WITHOUT_CLASS + asksOnceIn - 1);
  }

  @Test
  void sessionsShareAClassAndStoresDoNot() {
    try (FasterStore store = open("a");
        FasterStore other = open("b");
        Session<long[], long[], Object> first = session(store);
        Session<long[], long[], Object> second = session(store);
        Session<long[], long[], Object> elsewhere = session(other)) {
      assertThat(pathClass(first)).isSameAs(pathClass(second)).matches(Class::isHidden);
      assertThat(pathClass(elsewhere)).isNotSameAs(pathClass(first));
    }
  }

  @Test
  void aResizedIndexGetsAnotherClassAndTheOldOneGoes() {
    try (FasterStore store = open("a");
        Session<long[], long[], Object> session = session(store)) {
      upsert(session, 1, 10);
      WeakReference<Class<?>> old = new WeakReference<>(pathClass(session));
      store.index().grow();
      awaitClass(session);
      assertThat(rmw(session, 1, 5)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(functions.wasShort).isTrue();
      assertThat(read(session, 1)).isEqualTo(15);
      assertThat(pathClass(session)).matches(Class::isHidden);
      PathClasses.assertGoes(old);
    }
  }

  private FasterStore open(String name) {
    return open(name, 4 << 20, 64 << 10);
  }

  private FasterStore open(String name, long memoryBytes, long indexBytes) {
    return FasterStore.open(
        StoreConfig.builder(directory.resolve(name))
            .memoryBytes(memoryBytes)
            .indexBytes(indexBytes)
            .pageBytes(PAGE_BYTES)
            .deleteOnClose(true)
            .build());
  }

  private Session<long[], long[], Object> session(FasterStore store) {
    Session<long[], long[], Object> session = store.newSession().spans(functions);
    awaitClass(session);
    return session;
  }

  /** Makes operations until the session has a class of its store's; returns how many. */
  private static long awaitClass(Session<long[], long[], Object> session) {
    long made = 0;
    do {
      session.read(key(ABSENT), null, new long[1], null);
      made++;
    } while (pathClass(session) == null);
    return made;
  }

  private static @Nullable Class<?> pathClass(Session<?, ?, ?> session) {
    return PathClasses.in(session, "core", "retryLoop", "path");
  }

  private static Status upsert(Session<long[], long[], Object> session, int key, long value) {
    byte[] bytes = new byte[Long.BYTES];
    ByteSpan span = ByteSpan.of(bytes);
    span.putLong(0, value);
    return session.upsert(key(key), span, null);
  }

  private static Status rmw(Session<long[], long[], Object> session, int key, long more) {
    return session.rmw(key(key), new long[] {more}, null);
  }

  private static long read(Session<long[], long[], Object> session, int key) {
    long[] found = new long[1];
    assertThat(session.read(key(key), null, found, null)).isEqualTo(Status.FOUND);
    return found[0];
  }

  /** Of an odd length, like the keys of Flink's states. */
  private static ByteSpan key(int number) {
    return ByteSpan.of(ByteBuffer.allocate(17).putInt(13, number).array());
  }

  /** Numbers that are added up; notes whether a hidden class is on the stack. */
  private static final class Witness implements StoreFunctions<long[], long[], Object> {
    private static final StackWalker WALKER = StackWalker.getInstance(Option.SHOW_HIDDEN_FRAMES);
    private boolean wasShort;

    private void look() {
      wasShort =
          WALKER.walk(
              frames -> frames.anyMatch(frame -> frame.getClassName().contains("SpanMemoryPath")));
    }

    @Override
    public void singleReader(
        ByteSpan key, long[] input, ByteSpan value, long[] output, RecordView record) {
      look();
      output[0] = value.getLong(0);
    }

    @Override
    public void singleWriter(
        ByteSpan key,
        long[] input,
        ByteSpan source,
        ByteSpan value,
        long[] output,
        RecordView record) {
      look();
      value.setTo(source);
    }

    @Override
    public boolean concurrentWriter(
        ByteSpan key,
        long[] input,
        ByteSpan source,
        ByteSpan value,
        long[] output,
        RecordView record) {
      look();
      value.setTo(source);
      return true;
    }

    @Override
    public int initialBytes(ByteSpan key, long[] input) {
      return Long.BYTES;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, long[] input, ByteSpan value, long[] output, RecordView record) {
      value.setLength(Long.BYTES);
      value.putLong(0, input[0]);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, long[] input, ByteSpan value, long[] output, RecordView record) {
      look();
      value.putLong(0, value.getLong(0) + input[0]);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, long[] input, ByteSpan oldValue) {
      return Long.BYTES;
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        long[] input,
        ByteSpan oldValue,
        ByteSpan newValue,
        long[] output,
        RecordView record) {
      look();
      newValue.setTo(oldValue);
      newValue.putLong(0, oldValue.getLong(0) + input[0]);
    }
  }
}

package io.fasterkv.flink.records;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compaction has just said that a head may go, since all of its parts have expired; then a part is
 * added again, and the head goes.
 */
class LoneHeadsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEMORY_BYTES = 768 << 10;
  private static final int PAGE_BYTES = 16 << 10;
  private static final int STATE = 1;
  private static final int KEYS = 100;

  /** The key of {@link TestRecords} whose head is caught. */
  private static final int CAUGHT = 7;

  /** The last byte of what does not expire. */
  private static final byte NEW = 77;

  @TempDir Path directory;

  private final LoneHeads heads = new LoneHeads();
  private boolean isOfMaps;
  private boolean isExpired;
  private @Nullable Runnable whenHeadGoes;
  private @Nullable Runnable beforePart;

  /** All parts expire at one moment; what is written after that does not. */
  private final class AtOneMoment implements KeepRule {
    private final DeadParts parts;

    AtOneMoment(Identities identities) {
      parts = new DeadParts(identities);
    }

    @Override
    public boolean keepsAll() {
      return !isExpired;
    }

    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      if (KeyLayout.sub(key) != 0) {
        return isNew(value) && parts.keeps(key, value, store);
      }
      boolean isLone =
          PartLayout.ofHead(value) != PartLayout.NONE
              && (isOfMaps
                  ? heads.isMapWithoutBuckets(key, value, store)
                  : heads.isListWithoutChunks(key, value, store));
      Runnable action = whenHeadGoes;
      if (isLone && action != null && key.getByte(KeyLayout.KEY_LENGTH_AT + 1) == CAUGHT) {
        whenHeadGoes = null;
        action.run();
      }
      return !isLone;
    }

    private boolean isNew(ByteSpan part) {
      return part.getByte(part.length() - 1) == NEW;
    }
  }

  /** One that is too long for an inline list: the head is read, not changed, before. */
  @Test
  void anElementThatIsAddedMeanwhileStays() {
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false)) {
      test.identities.noteTimed(STATE);
      ByteLists lists = test.records.lists();
      fillLists(test);
      byte[] fresh = new byte[3000];
      fresh[fresh.length - 1] = NEW;
      race(test, () -> lists.append(test.key(CAUGHT), fresh, 0, fresh.length));

      Bytes group = new Bytes();
      Chunks read = Objects.requireNonNull(lists.read(test.key(CAUGHT)));
      assertThat(read.readGroup(Chunks.FIRST, group)).isEqualTo(Chunks.END);
      assertThat(group.length()).isEqualTo(fresh.length);
      assertThat(lists.read(test.key(CAUGHT + 1))).isNull();
    }
  }

  /**
   * A short one: the head is changed first, which copies it to the tail, out of compaction's way.
   * But whoever appends may be stopped for so long then that compaction gets there.
   */
  @Test
  void anElementStaysWhoseHeadWentJustBeforeItsChunkCame() {
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false, this::open)) {
      test.identities.noteTimed(STATE);
      ByteLists lists = test.records.lists();
      fillLists(test);
      expireBeforePart(test);
      byte[] fresh = {1, 2, NEW};
      lists.append(test.key(CAUGHT), fresh, 0, fresh.length);

      assertThat(beforePart).isNull();
      Bytes group = new Bytes();
      Chunks read = Objects.requireNonNull(lists.read(test.key(CAUGHT)));
      assertThat(read.readGroup(Chunks.FIRST, group)).isEqualTo(Chunks.END);
      assertThat(group.length()).isEqualTo(fresh.length);
    }
  }

  @Test
  void anEntryStaysWhoseHeadWentJustBeforeItsBucketCame() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false, this::open)) {
      test.identities.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      expireBeforePart(test);
      byte[] fresh = {99, 1, 2, NEW};
      maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1);

      assertThat(beforePart).isNull();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, new Bytes())).isTrue();
    }
  }

  private static void fillLists(TestRecords test) {
    byte[] element = new byte[900];
    for (int i = 0; i < 24 * KEYS; i++) {
      test.records.lists().append(test.key(i % KEYS), element, 0, element.length);
    }
  }

  private static void fillMaps(TestRecords test) {
    for (int i = 0; i < 60 * KEYS; i++) {
      byte[] entry = new byte[100];
      entry[0] = (byte) (i / KEYS);
      test.records.maps().put(test.key(i % KEYS), entry, 1, entry.length - 1);
    }
  }

  /** All parts expire, and leave the log with their heads when the next part is to be changed. */
  private void expireBeforePart(TestRecords test) {
    isExpired = true;
    beforePart =
        () -> {
          long end = test.store.tailAddress();
          compactUntil(test, () -> test.store.beginAddress() >= end);
        };
  }

  private StateRecords open(FasterStore store, Identities identities) {
    return new StateRecords(new StoppedRecords(store, identities), state -> null);
  }

  /** Runs {@link #beforePart} once, between a change of a head and that of its part. */
  private final class StoppedRecords extends Records {
    StoppedRecords(FasterStore store, Identities identities) {
      super(store, identities);
    }

    @Override
    void editPart(CompositeKey key, int part, long identity, RecordEdit edit) {
      Runnable action = beforePart;
      if (action != null) {
        beforePart = null;
        byte[] prefix = key.copyOfPrefix();
        action.run();
        assertThat(read(key.setPrefix(prefix, 0, prefix.length).head(), value -> {}))
            .as("head")
            .isFalse();
      }
      super.editPart(key, part, identity, edit);
    }
  }

  @Test
  void anEntryThatIsAddedMeanwhileStays() {
    isOfMaps = true;
    try (TestRecords test =
        new TestRecords(directory, MEMORY_BYTES, PAGE_BYTES, AtOneMoment::new, false)) {
      test.identities.noteTimed(STATE);
      ByteMaps maps = test.records.maps();
      fillMaps(test);
      byte[] fresh = {99, 1, 2, NEW};
      race(test, () -> maps.put(test.key(CAUGHT), fresh, 1, fresh.length - 1));

      Bytes value = new Bytes();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, value)).isTrue();
      assertThat(value.length()).isEqualTo(fresh.length - 1);
      assertThat(maps.isEmpty(test.key(CAUGHT))).isFalse();
      assertThat(maps.isEmpty(test.key(CAUGHT + 1))).isTrue();
      assertThat(maps.remove(test.key(CAUGHT), fresh, 0, 1)).isTrue();
      assertThat(maps.get(test.key(CAUGHT), fresh, 0, 1, value)).isFalse();
    }
  }

  /** Returns when all that was there has left the log. The action runs in the middle of a pass. */
  private void race(TestRecords test, Runnable action) {
    whenHeadGoes = action;
    isExpired = true;
    compactUntil(test, () -> whenHeadGoes == null);
    long end = test.store.tailAddress();
    compactUntil(test, () -> test.store.beginAddress() >= end);
  }

  private static void compactUntil(TestRecords test, BooleanSupplier isOver) {
    long start = System.nanoTime();
    while (!isOver.getAsBoolean()) {
      // Something that goes on, so that the log's begin gets past all that there was.
      test.records.values().put(test.key(KEYS + 1), new byte[1000], 1000);
      test.store.cut().close();
      test.store.compact();
      assertThat(System.nanoTime() - start)
          .as(() -> "log " + test.store.logBytes() + ", " + test.store.compactionStats())
          .isLessThan(PATIENCE.toNanos());
    }
  }
}

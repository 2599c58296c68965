package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.memory.BufferPool;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how often an upsert of a large value searches the chain and copies the value. */
class LargeUpsertTest {
  private static final int PAGE_BYTES = 4096;
  private static final int VALUE_BYTES = 100_000;
  private static final ByteSpan KEY = ByteSpan.of(new byte[8]);

  @TempDir Path directory;

  /** A store whose keys are all in one chain. */
  private FasterStore open() {
    return FasterStore.open(
        StoreConfig.builder(directory)
            .keyHash((memory, offset, length) -> 5)
            .memoryBytes(2 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(16 * PAGE_BYTES)
            .scratchBytes(256 << 10)
            .indexBytes(1024)
            .build());
  }

  private static byte[] value() {
    byte[] value = new byte[VALUE_BYTES];
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) (i * 31 + i / 1000);
    }
    return value;
  }

  @Test
  void theChainIsSearchedOnce() {
    try (FasterStore store = open();
        var session = store.newSession().spans(new BytesFunctions())) {
      session.upsert(KEY, ByteSpan.of(new byte[8]), null);
      long walks = walks(store);
      assertThat(session.upsert(KEY, ByteSpan.of(value()), null)).isEqualTo(Status.COPIED);
      assertThat(walks(store) - walks).isEqualTo(1);
    }
  }

  private static long walks(FasterStore store) {
    return Insides.engine(store).sessionCounters().sums().walks();
  }

  /** A part of a larger array, so that a missing offset is noticed. */
  @Test
  void aValueThatNoFunctionChangesNeedsNoScratchMemory() {
    byte[] value = value();
    byte[] around = new byte[VALUE_BYTES + 20];
    System.arraycopy(value, 0, around, 7, VALUE_BYTES);
    ByteSpan source =
        new ByteSpan().wrap(MemorySegment.ofArray(around), 7, VALUE_BYTES, VALUE_BYTES);
    try (FasterStore store = open();
        var session = store.newSession().spans(new BytesFunctions())) {
      BufferPool buffers = Insides.engine(store).buffers();
      session.upsert(KEY, ByteSpan.of(new byte[8]), null);
      MemorySegment lent =
          Objects.requireNonNull(buffers.tryTakeLarge(buffers.largestBytes()), "scratch memory");
      try {
        assertThat(session.upsert(KEY, source, null)).isEqualTo(Status.COPIED);
      } finally {
        buffers.give(lent);
      }
      assertThat(Arrays.mismatch(read(session), value)).isEqualTo(-1);
    }
  }

  @Test
  void aWriterOfTheUsersIsCalled() {
    byte[] value = value();
    try (FasterStore store = open();
        var session = store.newSession().spans(new MarkingFunctions())) {
      session.upsert(KEY, ByteSpan.of(value), null);
      value[0] = MarkingFunctions.MARK;
      assertThat(Arrays.mismatch(read(session), value)).isEqualTo(-1);
    }
  }

  /** A value is changed in place wherever its record is in the chain, without writing chunks. */
  @Test
  void aWriterThatKeepsLittleOfALongSourceChangesTheRecord() {
    try (FasterStore store = open();
        var session = store.newSession().spans(new ShorteningFunctions())) {
      session.upsert(KEY, ByteSpan.of(new byte[8]), null);
      // The newest record of the chain is another key's, so the fast path leaves the upsert alone.
      session.upsert(ByteSpan.of(new byte[9]), ByteSpan.of(new byte[8]), null);
      long tail = store.log().tailAddress();
      assertThat(session.upsert(KEY, ByteSpan.of(value()), null))
          .isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(store.log().tailAddress()).isEqualTo(tail);
      assertThat(read(session)).isEqualTo(Arrays.copyOf(value(), 8));
    }
  }

  private static byte[] read(Session<byte[], BytesFunctions.Result, Object> session) {
    var result = new BytesFunctions.Result();
    Status status = session.read(KEY, null, result, null);
    assertThat(session.completePending(true)).isZero();
    assertThat(status == Status.PENDING ? result.completed : status).isEqualTo(Status.FOUND);
    return result.value;
  }

  /** Stores the first eight bytes of each value. */
  private static final class ShorteningFunctions extends BytesFunctions {
    @Override
    public boolean concurrentWriter(
        ByteSpan key,
        byte[] input,
        ByteSpan source,
        ByteSpan value,
        Result output,
        RecordView record) {
      for (int i = 0; i < 8; i++) {
        value.putByte(i, source.getByte(i));
      }
      return true;
    }
  }

  /** Changes each value that is upserted. */
  private static final class MarkingFunctions extends BytesFunctions {
    static final byte MARK = 77;

    @Override
    public void singleWriter(
        ByteSpan key,
        byte[] input,
        ByteSpan source,
        ByteSpan value,
        Result output,
        RecordView record) {
      value.setTo(source);
      value.putByte(0, MARK);
    }
  }
}

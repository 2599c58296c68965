package io.fasterkv.checkpoint.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests digests of many records and of pieces that are far apart. */
class RecordDigestTest {
  private static final int RECORDS = 500;
  private static final long RECORD_BYTES = 24;

  private static RecordDigest digest(int mostBytes) {
    return new RecordDigest(new PieceWalk(LongRecord.INSTANCE), key -> 7, mostBytes);
  }

  private static MemorySegment piece(Arena arena) {
    MemorySegment bytes = arena.allocate(RECORDS * RECORD_BYTES, Long.BYTES);
    for (long record = 0; record < RECORDS; record++) {
      bytes.set(ValueLayout.JAVA_LONG, record * RECORD_BYTES, RecordInfo.complete(0, 0));
      bytes.set(ValueLayout.JAVA_LONG, record * RECORD_BYTES + 8, record);
    }
    return bytes;
  }

  private static List<Long> addresses(RecordDigest digest) {
    List<Long> addresses = new ArrayList<>();
    digest.forEach((address, info, hash, head) -> addresses.add(address));
    return addresses;
  }

  @Test
  void growsUpToItsLimitAndNoFurther() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = piece(arena);
      RecordDigest exact = digest(RECORDS * RecordDigest.ENTRY_BYTES);
      exact.add(4096, bytes, at -> "here");
      assertThat(addresses(exact))
          .isEqualTo(
              LongStream.range(0, RECORDS).map(i -> 4096 + i * RECORD_BYTES).boxed().toList());
      assertThat(exact.length()).isEqualTo(RECORDS * RecordDigest.ENTRY_BYTES);
      RecordDigest small = digest((RECORDS - 1) * RecordDigest.ENTRY_BYTES);
      assertThatThrownBy(() -> small.add(4096, bytes, at -> "here"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("records=" + (RECORDS - 1) + ", allowed=" + (RECORDS - 1));
    }
  }

  /** The format stores a number of words in 32 bits. */
  @Test
  void piecesMayLie32GibibytesApart() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = piece(arena);
      long most = (32L << 30) - bytes.byteSize();
      RecordDigest digest = digest(1 << 20);
      digest.add(4096, bytes, at -> "first");
      digest.add(4096 + most, bytes, at -> "second");
      assertThat(addresses(digest))
          .hasSize(2 * RECORDS)
          .last()
          .isEqualTo(4096 + most + (RECORDS - 1) * RECORD_BYTES);
      assertThatThrownBy(() -> digest.add(4096 + most + 8, bytes, at -> "third"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("too far from the first one")
          .hasMessageContaining("third");
      assertThatThrownBy(() -> digest.add(0, bytes, at -> "before"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}

package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which keys of a page are read, and where reading ends. */
class UpcomingKeysTest {
  private static final int PAGE_BYTES = 4096;
  private static final int ROOM = 4;
  private static final int VALUE_BYTES = 40;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment page = arena.allocate(PAGE_BYTES, Long.BYTES);
  private final UpcomingKeys keys = new UpcomingKeys(ROOM);
  private long end;

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void itTakesAsManyAsItHasRoomFor() {
    for (int i = 0; i < 6; i++) {
      append("key " + i, 0);
    }
    long fifth = 4 * end / 6;

    assertThat(read(0, PAGE_BYTES)).isEqualTo(fifth);
    assertThat(taken()).containsExactly("key 0", "key 1", "key 2", "key 3");
    assertThat(read(fifth, end)).isEqualTo(end);
    assertThat(taken()).containsExactly("key 4", "key 5");
  }

  @Test
  void recordsThatAreNotLookedUpAreSkipped() {
    append("invalid", RecordInfo.INVALID);
    append("tombstone", RecordInfo.TOMBSTONE);
    append("chunk", RecordInfo.CHUNK);
    append("overwritten", RecordInfo.OVERWRITTEN);
    ForkRecord.createByTag(page, end, 8, 16, 1, 1);
    end += ForkRecord.BYTES;
    Words.storePlain(page, end, RecordInfo.padding(64));
    end += 64;
    append("delta", RecordInfo.DELTA);
    append("last", 0);

    assertThat(read(0, end)).isEqualTo(end);
    assertThat(taken()).containsExactly("delta", "last");
  }

  @Test
  void itEndsWhereNothingFollowsOnThePage() {
    append("only", 0);

    assertThat(read(0, PAGE_BYTES)).isEqualTo(PAGE_BYTES);
    assertThat(taken()).containsExactly("only");
  }

  @Test
  void itEndsWhereSizesMakeNoSense() {
    append("sound", 0);
    long broken = end;
    long bytes = append("broken", 0);
    append("behind", 0);
    long[] sizes = {
      0,
      bytes << Integer.SIZE | Integer.MAX_VALUE,
      bytes << Integer.SIZE | 0xFFFF_FFFFL,
      (long) PAGE_BYTES << Integer.SIZE | 6,
      -1,
      (bytes + 1) << Integer.SIZE | 6,
      8L << Integer.SIZE | 6,
    };

    for (long size : sizes) {
      Words.storePlain(page, broken + Long.BYTES, size);
      assertThat(read(0, end)).as("sizes=%x", size).isEqualTo(broken);
      assertThat(taken()).as("sizes=%x", size).containsExactly("sound");
    }
    for (long padding : new long[] {0, Long.BYTES + 4, PAGE_BYTES}) {
      Words.storePlain(page, broken, RecordInfo.padding(padding));
      assertThat(read(0, end)).as("padding=%d", padding).isEqualTo(broken);
      assertThat(taken()).as("padding=%d", padding).containsExactly("sound");
    }
  }

  @Test
  void aRecordThatIsCutOffEndsIt() {
    append("whole", 0);
    long second = end;
    append("cut off", 0);

    for (long until = second; until < end; until += Long.BYTES) {
      assertThat(read(0, until)).as("until=%d", until).isEqualTo(second);
      assertThat(taken()).containsExactly("whole");
    }
  }

  private long read(long from, long until) {
    return keys.read(SpanRecord.INSTANCE, page, from, until);
  }

  private List<String> taken() {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < keys.count(); i++) {
      ByteSpan key = keys.keys()[i];
      byte[] bytes = new byte[key.length()];
      for (int at = 0; at < bytes.length; at++) {
        bytes[at] = key.getByte(at);
      }
      found.add(new String(bytes, StandardCharsets.UTF_8));
    }
    return found;
  }

  /** Returns the number of bytes of the record. */
  private long append(String text, long bits) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    KeyBytes key = new KeyBytes();
    MemorySegment source = MemorySegment.ofArray(bytes);
    key.copy(source, 0, bytes.length, arena.allocate(PAGE_BYTES, Long.BYTES));
    long recordBytes = SpanRecord.INSTANCE.recordBytes(bytes.length, VALUE_BYTES);
    SpanRecord.INSTANCE.create(page, end, recordBytes, key, 0);
    SpanRecord.INSTANCE.setValueBytes(page, end, VALUE_BYTES);
    Words.storePlain(page, end, RecordInfo.complete(0, bits));
    end += recordBytes;
    return recordBytes;
  }
}

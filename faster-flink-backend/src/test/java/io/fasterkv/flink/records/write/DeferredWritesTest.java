package io.fasterkv.flink.records.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.key.CompositeKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests which writes are buffered, when they are made, and in which order. */
class DeferredWritesTest {
  private final Written written = new Written();
  private final List<Integer> touched = new ArrayList<>();
  private final DeferredWrites writes =
      new DeferredWrites(
          written, (heads, count) -> touched.add(count), number -> "state " + number);
  private final CompositeKey key = new CompositeKey();

  private CompositeKey key(int number, int length) {
    byte[] bytes = new byte[length];
    bytes[0] = (byte) number;
    key.setKey(1, bytes, 0, length);
    return key.select(1, new byte[] {0}, 0, 1);
  }

  private void put(int number) {
    writes.putValue(key(number, 4), new byte[] {9, 0, (byte) number}, 1, 2);
  }

  private static List<String> puts(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(number -> "put " + number + " [0, " + number + "]")
        .toList();
  }

  private void fillLead() {
    for (int i = 0; i < DeferredWrites.LEAD; i++) {
      put(i);
    }
    assertThat(written.calls).isEqualTo(puts(0, DeferredWrites.LEAD));
    written.calls.clear();
  }

  @Test
  void aGroupIsPrefetchedAndMadeInOrder() {
    fillLead();
    for (int i = 0; i < DeferredWrites.GROUP; i++) {
      put(i);
    }
    assertThat(written.calls).isEmpty();
    put(100);
    assertThat(touched).containsExactly(DeferredWrites.GROUP);
    assertThat(written.calls).isEqualTo(puts(0, DeferredWrites.GROUP));
    writes.settle();
    assertThat(touched).containsExactly(DeferredWrites.GROUP, 1);
    assertThat(written.calls.getLast()).isEqualTo("put 100 [0, 100]");
    writes.settle();
    assertThat(written.calls).hasSize(DeferredWrites.GROUP + 1);
  }

  @Test
  void writesWithReadsBetweenThemAreMadeAtOnce() {
    for (int i = 0; i < 100; i++) {
      put(i);
      assertThat(written.calls).hasSize(i + 1);
      if (i % DeferredWrites.LEAD == 0) {
        writes.settle();
      }
    }
    assertThat(touched).isEmpty();
  }

  @Test
  void everyKindOfWriteUsesItsArgumentsAtTheTimeOfTheCall() {
    fillLead();
    byte[] bytes = {1, 2, 3, 4, 5, 6, 7};
    writes.putValue(key(1, 4), bytes, 0, 3);
    writes.removeValue(key(2, 4));
    writes.setList(key(3, 4), bytes, 1, 2);
    writes.append(key(4, 4), bytes, 2, 4);
    writes.removeList(key(5, 4));
    writes.putEntry(key(6, 4), bytes, 1, 2, 3);
    writes.removeEntry(key(7, 4), bytes, 3, 2);
    writes.clearMap(key(8, 4));
    Arrays.fill(bytes, (byte) 0);
    key(9, 4);
    assertThat(written.calls).isEmpty();
    writes.settle();
    assertThat(written.calls)
        .containsExactly(
            "put 1 [1, 2, 3]",
            "remove 2 []",
            "set 3 [2, 3]",
            "append 4 [3, 4, 5, 6]",
            "remove list 5 []",
            "entry 6 [2, 3] [4, 5, 6]",
            "remove entry 7 [4, 5]",
            "clear map 8 []");
  }

  @Test
  void longWritesAreMadeAtOnceAfterBufferedOnes() {
    int most = DeferredWrites.MOST_BYTES;
    fillLead();
    put(1);
    writes.append(key(2, 4), new byte[most], 0, most);
    assertThat(written.calls).isEmpty();
    writes.append(key(3, 4), new byte[most + 1], 0, most + 1);
    assertThat(written.calls).hasSize(3).first().isEqualTo("put 1 [0, 1]");
    written.calls.clear();
    put(4);
    writes.removeValue(key(5, 100));
    assertThat(written.calls).containsExactly("put 4 [0, 4]", "remove 5 []");
  }

  @Test
  void aGroupOfTheLongestBytesHasRoom() {
    fillLead();
    byte[] bytes = new byte[DeferredWrites.MOST_BYTES];
    for (int i = 0; i < DeferredWrites.GROUP; i++) {
      Arrays.fill(bytes, (byte) i);
      writes.setList(key(i, 4), bytes, 0, bytes.length);
    }
    writes.settle();
    for (int i = 0; i < DeferredWrites.GROUP; i++) {
      Arrays.fill(bytes, (byte) i);
      assertThat(written.calls.get(i)).isEqualTo("set " + i + " " + Arrays.toString(bytes));
    }
  }

  @Test
  void afterAFailureNoWriteIsMade() {
    fillLead();
    for (int i = 0; i < 6; i++) {
      put(i);
    }
    written.failsAt = 3;
    assertThatThrownBy(writes::settle)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a buffered write has failed: write=PUT_VALUE, state=state 1")
        .hasCause(written.failure);
    written.failsAt = Written.NEVER;
    for (int attempt = 0; attempt < DeferredWrites.GROUP; attempt++) {
      for (ThrowingCallable call : List.<ThrowingCallable>of(writes::settle, () -> put(7))) {
        assertThatThrownBy(call)
            .hasMessage(
                "a buffered write has failed before; restart the task from its last checkpoint")
            .hasCause(written.failure);
      }
    }
    assertThat(written.calls).isEqualTo(puts(0, 3));
  }

  @Test
  void anErrorStaysAnError() {
    fillLead();
    put(1);
    OutOfMemoryError error = new OutOfMemoryError("for the test");
    written.failsAt = 1;
    written.failure = error;
    assertThatThrownBy(writes::settle).isSameAs(error);
    assertThatThrownBy(writes::settle).hasCause(error);
  }

  @Test
  void othersDoNotMakeThem() throws Exception {
    writes.settleOwn();
    fillLead();
    put(1);
    CompletableFuture.runAsync(writes::settleOwn).get();
    assertThat(written.calls).isEmpty();
    writes.settleOwn();
    assertThat(written.calls).isEqualTo(puts(1, 2));
  }

  /** Records the writes that are made. */
  private static final class Written implements StateWrites {
    static final int NEVER = -1;
    final List<String> calls = new ArrayList<>();
    Throwable failure = new IllegalStateException("no room");
    int failsAt = NEVER;

    @SuppressWarnings("unchecked") // Allows throwing any type of exception.
    private static <T extends Throwable> void fail(Throwable failure) throws T {
      throw (T) failure;
    }

    private void made(String what, CompositeKey key, byte[] bytes, int... ends) {
      int number = key.copyOfPrefix()[5];
      if (number == failsAt) {
        Written.<RuntimeException>fail(failure);
      }
      StringBuilder call = new StringBuilder(what + " " + number);
      for (int i = 1; i < ends.length; i++) {
        call.append(' ').append(Arrays.toString(Arrays.copyOfRange(bytes, ends[i - 1], ends[i])));
      }
      calls.add(call.toString());
    }

    @Override
    public void putValue(CompositeKey key, byte[] bytes, int offset, int length) {
      made("put", key, bytes, offset, offset + length);
    }

    @Override
    public void removeValue(CompositeKey key) {
      made("remove", key, new byte[0], 0, 0);
    }

    @Override
    public void setList(CompositeKey key, byte[] elements, int offset, int count) {
      made("set", key, elements, offset, offset + count);
    }

    @Override
    public void append(CompositeKey key, byte[] elements, int offset, int count) {
      made("append", key, elements, offset, offset + count);
    }

    @Override
    public void removeList(CompositeKey key) {
      made("remove list", key, new byte[0], 0, 0);
    }

    @Override
    public void putEntry(
        CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength) {
      int keyEnd = offset + keyLength;
      made("entry", key, bytes, offset, keyEnd, keyEnd + valueLength);
    }

    @Override
    public void removeEntry(CompositeKey key, byte[] bytes, int offset, int length) {
      made("remove entry", key, bytes, offset, offset + length);
    }

    @Override
    public void clearMap(CompositeKey key) {
      made("clear map", key, new byte[0], 0, 0);
    }
  }
}

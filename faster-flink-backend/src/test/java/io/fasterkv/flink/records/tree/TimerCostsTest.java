package io.fasterkv.flink.records.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.TestRecords;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how many store operations and log bytes it costs to add or remove a timer. */
class TimerCostsTest {
  private static final int TIMERS = 400;

  @TempDir Path directory;

  private TestRecords test;
  private TimerTree tree;

  @BeforeEach
  void open() {
    test = new TestRecords(directory, 4 << 20, 16 << 10);
    tree = test.records.trees().tree(0, 3, new byte[0]);
    for (int i = 0; i < TIMERS; i++) {
      assertThat(add(i)).isTrue();
    }
    assertThat(test.records.trees().level(test.records.trees().select(0, 3, new byte[0]).head()))
        .isEqualTo(1);
  }

  @AfterEach
  void close() {
    test.close();
  }

  private static byte[] timer(int number) {
    return ByteBuffer.allocate(30).putLong(number).array();
  }

  private boolean add(int number) {
    byte[] timer = timer(number);
    return tree.add(timer, 0, timer.length);
  }

  private boolean remove(int number) {
    byte[] timer = timer(number);
    return tree.remove(timer, 0, timer.length);
  }

  private long operations(Runnable access) {
    long before = test.records.operations();
    access.run();
    return test.records.operations() - before;
  }

  @Test
  void aTimerThatIsPresentCostsOneOperationWhicheverItIs() {
    SplittableRandom random = new SplittableRandom(1);
    add(0);
    for (int i = 0; i < 1_000; i++) {
      int timer = random.nextInt(TIMERS);
      assertThat(operations(() -> assertThat(add(timer)).isFalse())).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void theTimerThatWasAddedLastCostsNothing() {
    assertThat(operations(() -> assertThat(add(TIMERS - 1)).isFalse())).isZero();
    add(7);
    // Removing another timer makes no difference.
    remove(8);
    assertThat(operations(() -> assertThat(add(7)).isFalse())).isZero();
    remove(7);
    assertThat(add(7)).isTrue();
    add(0);
    assertThat(tree.removeFirst()).isTrue();
    assertThat(add(0)).isTrue();
  }

  /** A timer's leaf is read-only after a snapshot, so a change would have to copy it. */
  @Test
  void aTimerThatIsPresentWritesNothing() {
    test.store.log().cut().close();
    add(0);
    long before = test.store.statistics().logBytes();
    for (int i = 0; i < TIMERS; i++) {
      assertThat(add(i)).isFalse();
    }
    assertThat(test.store.statistics().logBytes()).isEqualTo(before);
  }
}

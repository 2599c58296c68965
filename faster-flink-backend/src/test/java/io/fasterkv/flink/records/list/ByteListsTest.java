package io.fasterkv.flink.records.list;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.LiveRecords;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("seeds")
class ByteListsTest {
  private static final int KEYS = 4;

  @TempDir Path directory;

  @Test
  void behavesLikeAnArrayList() throws Throwable {
    Seeds.run(
        8,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            new Model(test, random).run(4_000);
          }
        });
  }

  /** Lists under several keys, and the expected contents in lists of java.util. */
  private static final class Model {
    private final TestRecords test;
    private final ByteLists lists;
    private final SplittableRandom random;
    private final int clearOneIn;
    private final List<List<byte[]>> expected = new ArrayList<>();

    Model(TestRecords test, SplittableRandom random) {
      this.test = test;
      this.lists = test.records.lists();
      this.random = random;
      this.clearOneIn = 1 << random.nextInt(4, 11);
      for (int i = 0; i < KEYS; i++) {
        expected.add(new ArrayList<>());
      }
    }

    void run(int steps) {
      for (int step = 0; step < steps; step++) {
        int number = random.nextInt(KEYS);
        if (random.nextInt(clearOneIn) == 0) {
          lists.remove(test.key(number));
          expected.get(number).clear();
        } else if (random.nextInt(500) == 0) {
          move(number, (number + 1) % KEYS);
        } else if (random.nextInt(100) == 0) {
          compare(number);
        } else if (random.nextInt(100) == 0) {
          set(number);
        } else {
          append(number);
        }
      }
      for (int number = 0; number < KEYS; number++) {
        compare(number);
        lists.remove(test.key(number));
      }
      assertThat(LiveRecords.count(test)).isZero();
    }

    private void append(int number) {
      int kind = random.nextInt(1_000);
      int length =
          kind < 900 ? 1 + random.nextInt(30) : kind < 990 ? random.nextInt(1, 700) : 6_000;
      byte[] element = Seeds.bytes(random, length);
      lists.append(test.key(number), element, 0, length);
      expected.get(number).add(element);
    }

    private void set(int number) {
      byte[] element = Seeds.bytes(random, 1 + random.nextInt(random.nextBoolean() ? 30 : 6_000));
      lists.set(test.key(number), element, 0, element.length);
      expected.get(number).clear();
      expected.get(number).add(element);
    }

    private void move(int from, int to) {
      byte[] target = test.key(to).copyOfPrefix();
      lists.move(test.key(from), new CompositeKey().setPrefix(target, 0, target.length));
      expected.get(to).addAll(expected.get(from));
      expected.get(from).clear();
    }

    private void compare(int number) {
      ListSnapshot chunks = lists.read(test.key(number));
      assertThat(chunks == null).isEqualTo(expected.get(number).isEmpty());
      if (chunks != null) {
        assertThat(bytes(chunks)).isEqualTo(joined(expected.get(number)));
      }
    }
  }

  private static byte[] joined(List<byte[]> elements) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] element : elements) {
      if (all.size() > 0) {
        all.write(ListLayout.SEPARATOR);
      }
      all.writeBytes(element);
    }
    return all.toByteArray();
  }

  private static byte[] bytes(ListSnapshot chunks) {
    List<byte[]> groups = new ArrayList<>();
    Bytes group = new Bytes();
    for (int next = ListSnapshot.FIRST; next != ListSnapshot.END; ) {
      next = chunks.readGroup(next, group);
      groups.add(Arrays.copyOf(group.array(), group.length()));
    }
    return joined(groups);
  }

  @Test
  void aSnapshotOfAListNeverChanges() throws Throwable {
    try (TestRecords test = new TestRecords(directory)) {
      ByteLists lists = test.records.lists();
      byte[] element = new byte[100];
      List<byte[]> expected = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        lists.append(test.key(1), element, 0, element.length);
        expected.add(element);
      }
      ListSnapshot first = lists.read(test.key(1));
      Bytes group = new Bytes();
      int next = first.readGroup(ListSnapshot.FIRST, group);
      lists.append(test.key(1), new byte[] {1}, 0, 1);
      assertThat(bytes(first)).isEqualTo(joined(expected));

      expected.add(new byte[] {1});
      ListSnapshot second = lists.read(test.key(1));
      lists.remove(test.key(1));
      lists.append(test.key(1), new byte[] {2}, 0, 1);
      assertThat(bytes(second)).isEqualTo(joined(expected));
      assertThat(first.readGroup(next, group)).isPositive();
      assertThat(bytes(lists.read(test.key(1)))).isEqualTo(new byte[] {2});
    }
  }

  @Test
  void anAppendCostsTheSameWhateverTheLength() {
    try (TestRecords test = new TestRecords(directory)) {
      ByteLists lists = test.records.lists();
      byte[] element = new byte[50];
      long before = test.store.statistics().logBytes();
      int appends = 20_000;
      for (int i = 0; i < appends; i++) {
        lists.append(test.key(1), element, 0, element.length);
      }
      assertThat(test.store.statistics().logBytes() - before)
          .isLessThan(4L * appends * element.length);
    }
  }
}

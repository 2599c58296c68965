package io.fasterkv.flink.records.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.LiveRecords;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("seeds")
class TimerTreeTest {
  private static final int STATE = 3;
  private static final byte[] TREE = {};

  @TempDir Path directory;

  @Test
  void behavesLikeATreeSet() throws Throwable {
    Seeds.run(
        10,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            new Model(test, random).run(6_000);
          }
        });
  }

  /** Deep trees, filled and emptied in several orders, with most blocks on disk. */
  @Test
  @Tag("long")
  void staysInShapeInAnyOrderOfAddsAndRemoves() throws Throwable {
    Seeds.run(
        1,
        random -> {
          int[] ascending = IntStream.range(0, 40_000).toArray();
          int[] descending = ascending.clone();
          reverse(descending);
          int[] shuffled = ascending.clone();
          shuffle(shuffled, random);
          int[] shuffledAgain = shuffled.clone();
          shuffle(shuffledAgain, random);
          fillAndEmpty(ascending, shuffled);
          fillAndEmpty(descending, ascending);
          fillAndEmpty(shuffled, descending);
          fillAndEmpty(shuffled, shuffledAgain);
        });
  }

  private void fillAndEmpty(int[] adds, int[] removes) {
    try (TestRecords test = new TestRecords(directory)) {
      TimerTree tree = test.records.trees().tree(0, STATE, TREE);
      for (int i = 0; i < adds.length; i++) {
        byte[] element = longElement(adds[i]);
        assertThat(tree.add(element, 0, element.length)).isTrue();
        assertThat(tree.add(element, 0, element.length)).isFalse();
        if (i % 10_000 == 0) {
          assertThat(elements(test)).isEqualTo(i + 1);
        }
      }
      assertThat(test.records.trees().level(blocks(test).head())).isGreaterThan(1);
      for (int i = 0; i < removes.length; i++) {
        byte[] element = longElement(removes[i]);
        assertThat(tree.remove(element, 0, element.length)).isTrue();
        if (i % 10_000 == 0) {
          assertThat(elements(test)).isEqualTo(removes.length - i - 1);
        }
        if (i == removes.length - 200) {
          // The remaining 200 elements of 40 bytes are in blocks that are merged when sparse.
          assertThat(LiveRecords.count(test)).isLessThan(40);
        }
      }
      assertThat(LiveRecords.count(test)).isZero();
    }
  }

  private static CompositeKey blocks(TestRecords test) {
    return test.records.trees().select(0, STATE, TREE);
  }

  private static int elements(TestRecords test) {
    return TreeInvariants.check(test.records.trees().records(), blocks(test));
  }

  private static byte[] longElement(int number) {
    return ByteBuffer.allocate(40).putLong(number).array();
  }

  private static void reverse(int[] array) {
    for (int i = 0; i < array.length / 2; i++) {
      swap(array, i, array.length - 1 - i);
    }
  }

  private static void shuffle(int[] array, SplittableRandom random) {
    for (int i = array.length - 1; i > 0; i--) {
      swap(array, i, random.nextInt(i + 1));
    }
  }

  private static void swap(int[] array, int left, int right) {
    int swapped = array[left];
    array[left] = array[right];
    array[right] = swapped;
  }

  /** Several sets, and the expected contents in sets of java.util. */
  private static final class Model {
    private static final int SETS = 3;

    private final TestRecords test;
    private final SplittableRandom random;
    private final int times;
    private final int keys;
    private final int longShare;
    private final List<TimerTree> trees = new ArrayList<>();
    private final List<NavigableSet<byte[]>> expected = new ArrayList<>();
    private final Bytes read = new Bytes();

    Model(TestRecords test, SplittableRandom random) {
      this.test = test;
      this.random = random;
      this.times = 1 << random.nextInt(0, 14);
      this.keys = 1 << random.nextInt(0, 12);
      this.longShare = random.nextBoolean() ? 0 : random.nextInt(1, 300);
      for (int i = 0; i < SETS; i++) {
        trees.add(open(i));
        expected.add(new TreeSet<>(Comparator.comparing(TimerTreeTest::orderKey)));
      }
    }

    private TimerTree open(int set) {
      return test.records.trees().tree(set, STATE, TREE);
    }

    void run(int steps) {
      int adds = random.nextInt(30, 70);
      for (int step = 0; step < steps; step++) {
        if (step % 1_000 == 0) {
          adds = random.nextInt(20, 80);
        }
        int set = random.nextInt(SETS);
        step(set, adds);
        if (random.nextInt(300) == 0) {
          check(set);
        }
        if (random.nextInt(400) == 0) {
          trees.set(set, open(set));
        }
      }
      for (int set = 0; set < SETS; set++) {
        check(set);
        drain(set);
      }
      assertThat(LiveRecords.count(test)).isZero();
    }

    private void step(int set, int adds) {
      int kind = random.nextInt(100);
      if (kind < adds) {
        byte[] element = element();
        long before = trees.get(set).headChanges();
        byte[] head = head(set);
        assertThat(trees.get(set).add(element, 0, element.length))
            .isEqualTo(expected.get(set).add(element));
        checkHeadChange(set, head, before);
      } else if (kind < adds + (100 - adds) / 2) {
        remove(set, anElement(set));
      } else if (kind < 99) {
        removeFirst(set);
      } else {
        scanWithChanges(set);
      }
    }

    private void remove(int set, byte[] element) {
      long before = trees.get(set).headChanges();
      byte[] head = head(set);
      assertThat(trees.get(set).remove(element, 0, element.length))
          .isEqualTo(expected.get(set).remove(element));
      checkHeadChange(set, head, before);
    }

    private byte[] head(int set) {
      return expected.get(set).isEmpty() ? TREE : expected.get(set).first();
    }

    /** Checks that a change of the first element was counted. */
    private void checkHeadChange(int set, byte[] head, long before) {
      if (!Arrays.equals(head(set), head)) {
        assertThat(trees.get(set).headChanges()).isGreaterThan(before);
      }
    }

    private void removeFirst(int set) {
      byte[] first = expected.get(set).pollFirst();
      assertThat(trees.get(set).first(read)).isEqualTo(first != null);
      if (first != null) {
        assertThat(bytesRead()).isEqualTo(first);
      }
      assertThat(trees.get(set).removeFirst()).isEqualTo(first != null);
    }

    private byte[] bytesRead() {
      return Arrays.copyOf(read.array(), read.length());
    }

    /** A scan returns unchanged elements once and in order, even if other elements change. */
    private void scanWithChanges(int set) {
      List<byte[]> untouched = new ArrayList<>(expected.get(set));
      TreeScan scan = trees.get(set).scan();
      NavigableSet<byte[]> touched = new TreeSet<>(Comparator.comparing(TimerTreeTest::orderKey));
      List<byte[]> seen = new ArrayList<>();
      while (scan.next()) {
        scan.element(read);
        byte[] element = bytesRead();
        assertThat(expected.get(set).contains(element)).isTrue();
        seen.add(element);
        if (random.nextInt(4) == 0) {
          byte[] other = random.nextBoolean() ? element : anElement(set);
          touched.add(other);
          remove(set, other);
        } else if (random.nextInt(4) == 0) {
          byte[] added = element();
          touched.add(added);
          trees.get(set).add(added, 0, added.length);
          expected.get(set).add(added);
        }
      }
      assertThat(orderKeys(seen)).isSorted().doesNotHaveDuplicates();
      untouched.removeIf(touched::contains);
      assertThat(orderKeys(seen)).containsAll(orderKeys(untouched));
    }

    private static List<ByteBuffer> orderKeys(List<byte[]> elements) {
      return elements.stream().map(TimerTreeTest::orderKey).toList();
    }

    private byte[] anElement(int set) {
      byte[] element = element();
      byte[] near = expected.get(set).ceiling(element);
      return near == null || random.nextInt(10) == 0 ? element : near;
    }

    /** Eight bytes of time and a key of any length, sometimes a huge one. */
    private byte[] element() {
      boolean huge = longShare > 0 && random.nextInt(longShare) == 0;
      int most = huge ? 20_000 : 1 + random.nextInt(random.nextInt(20) == 0 ? 300 : 30);
      ByteBuffer element = ByteBuffer.allocate(Long.BYTES + Integer.BYTES + most);
      int time = random.nextInt(times);
      element.putLong(time == 0 ? Long.MIN_VALUE : time == 1 ? Long.MAX_VALUE : time);
      int key = random.nextInt(keys);
      // The length is derived from time and key, so that equal elements recur.
      int length = most < 1_000 ? (key * 31 + time) % 20 : most;
      if (length > 250) {
        Arrays.fill(element.array(), Long.BYTES, element.capacity(), (byte) 7);
        element.putInt(element.capacity() - Integer.BYTES, key);
        return element.array();
      }
      element.putInt(key);
      return Arrays.copyOf(element.array(), Long.BYTES + Integer.BYTES + length);
    }

    private void check(int set) {
      CompositeKey key = test.records.trees().select(set, STATE, TREE);
      assertThat(TreeInvariants.check(test.records.trees().records(), key))
          .isEqualTo(expected.get(set).size());
      assertThat(trees.get(set).count()).isEqualTo(expected.get(set).size());
      TreeScan scan = trees.get(set).scan();
      for (byte[] element : expected.get(set)) {
        assertThat(scan.next()).isTrue();
        scan.element(read);
        assertThat(bytesRead()).isEqualTo(element);
      }
      assertThat(scan.next()).isFalse();
      assertThat(scan.next()).isFalse();
    }

    private void drain(int set) {
      while (!expected.get(set).isEmpty()) {
        removeFirst(set);
      }
      assertThat(trees.get(set).isEmpty()).isTrue();
      assertThat(trees.get(set).first(read)).isFalse();
    }
  }

  private static ByteBuffer unsigned(byte[] bytes) {
    // ByteBuffers compare bytes as signed numbers.
    byte[] flipped = bytes.clone();
    for (int i = 0; i < flipped.length; i++) {
      flipped[i] ^= (byte) 0x80;
    }
    return ByteBuffer.wrap(flipped);
  }

  private static ByteBuffer orderKey(byte[] element) {
    if (element.length < TreeLayout.LONG_BYTES) {
      return unsigned(element);
    }
    try {
      byte[] key = Arrays.copyOf(element, TreeLayout.LONG_BYTES);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(element);
      System.arraycopy(digest, 0, key, TreeLayout.LONG_PREFIX_BYTES, digest.length);
      return unsigned(key);
    } catch (NoSuchAlgorithmException cause) {
      throw new AssertionError(cause);
    }
  }
}

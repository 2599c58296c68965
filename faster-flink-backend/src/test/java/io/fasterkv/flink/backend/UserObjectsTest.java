package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests objects that users pass to states and receive from them: lists with removals, views that
 * access other states while they are written, serializers that fail, write nothing, or write
 * something else each time.
 */
@Tag("seeds")
class UserObjectsTest {
  @TempDir private Path directory;
  private TestBackends backends;
  private FasterKeyedStateBackend<Integer> backend;

  @BeforeEach
  void open() throws Exception {
    backends = new TestBackends(TestSettings.TINY, directory);
    backend = backends.open();
    backend.setCurrentKey(1);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
  }

  private <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }

  private static <T> List<T> all(Iterable<T> elements) {
    List<T> all = new ArrayList<>();
    elements.forEach(all::add);
    return all;
  }

  private static <T> List<T> shown(ListState<T> list) throws Exception {
    Iterable<T> elements = list.get();
    return elements == null ? List.of() : all(elements);
  }

  /** The list is in one record, in a few chunks, or in many. */
  @ParameterizedTest
  @ValueSource(ints = {5, 300, 5_000})
  void removalFromAReturnedListDoesNotChangeTheState(int size) throws Exception {
    ListState<Long> list = state(new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
    List<Long> model = new ArrayList<>(LongStream.range(0, size).boxed().toList());
    list.addAll(model);
    List<Long> stored = List.copyOf(model);
    Iterable<Long> read = list.get();
    Iterator<Long> other = read.iterator();
    other.next();
    for (int round = 2; round < 5; round++) {
      long divisor = round;
      Iterator<Long> elements = read.iterator();
      assertThatThrownBy(elements::remove).isInstanceOf(IllegalStateException.class);
      while (elements.hasNext()) {
        if (elements.next() % divisor == 1) {
          elements.remove();
        }
      }
      model.removeIf(element -> element % divisor == 1);
      assertThat(all(read)).isEqualTo(model);
    }
    assertThatThrownBy(other::next).isInstanceOf(ConcurrentModificationException.class);
    assertThat(shown(list)).isEqualTo(stored);
    list.update(all(read));
    assertThat(shown(list)).isEqualTo(model);
  }

  /** Adds lists of all kinds, with access by index or only by iterator. */
  @Test
  void everyKindOfListIsAddedInItsOrder() throws Exception {
    List<Long> numbers = LongStream.range(0, 2_000).boxed().toList();
    ListState<Long> list = state(new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
    List<Long> expected = new ArrayList<>();
    for (List<Long> kind :
        List.of(
            numbers,
            List.of(1L, 2L),
            new ArrayList<>(numbers),
            new LinkedList<>(numbers),
            new CopyOnWriteArrayList<>(numbers),
            numbers.reversed(),
            Collections.nCopies(70, 7L))) {
      list.addAll(kind);
      expected.addAll(kind);
    }
    assertThat(shown(list)).isEqualTo(expected);
  }

  /** How a user's object is written to a state. */
  enum Write {
    VALUE,
    UPDATE,
    ADD_ALL,
    PUT_ALL
  }

  /**
   * A view is iterated while it is written, and may read any state meanwhile, including the one
   * that is written.
   */
  @ParameterizedTest
  @EnumSource(Write.class)
  void viewsMayAskStatesWhileTheyAreWritten(Write write) throws Exception {
    for (int size : new int[] {3, 400}) {
      backend.setCurrentKey(size);
      Written outer = new Written(write);
      ValueState<String> value =
          state(new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
      ListState<String> list = state(new ListStateDescriptor<>("list", StringSerializer.INSTANCE));
      MapState<Integer, String> map =
          state(new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
      value.update("value");
      list.addAll(List.of("first", "second"));
      map.put(7, "seven");
      map.put(8, "eight");

      List<String> expected = new ArrayList<>();
      List<IntFunction<String>> questions =
          List.of(
              i -> unchecked(value::value) + i,
              i -> unchecked(() -> map.get(7 + i % 2)) + i,
              i -> unchecked(() -> String.join("+", shown(list))) + i,
              i -> unchecked(() -> outer.ask()) + i);
      for (IntFunction<String> question : questions) {
        String own = outer.ask();
        List<String> wanted =
            IntStream.range(0, size)
                .mapToObj(i -> question == questions.get(3) ? own + i : question.apply(i))
                .toList();
        outer.write(view(size, question), write == Write.ADD_ALL ? expected : null, wanted);
        assertThat(value.value()).isEqualTo("value");
        assertThat(shown(list)).containsExactly("first", "second");
        assertThat(map.get(7)).isEqualTo("seven");
        assertThat(map.get(8)).isEqualTo("eight");
      }
    }
  }

  /** A state that is written, and its expected contents. */
  private final class Written {
    private final Write write;
    private final ValueState<List<String>> value;
    private final ListState<String> list;
    private final MapState<Integer, String> map;

    Written(Write write) throws Exception {
      this.write = write;
      value =
          state(
              new ValueStateDescriptor<>(
                  "written value", new ListSerializer<>(StringSerializer.INSTANCE)));
      list = state(new ListStateDescriptor<>("written list", StringSerializer.INSTANCE));
      map =
          state(
              new MapStateDescriptor<>(
                  "written map", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
      map.put(-1, "of the map");
    }

    /** Reads something from the state that no write changes. */
    String ask() throws Exception {
      return switch (write) {
        case VALUE -> value.value() == null || !value.value().isEmpty() ? "own" : "";
        case UPDATE, ADD_ALL -> list.get() == null || !shown(list).isEmpty() ? "own" : "";
        case PUT_ALL -> map.get(-1);
      };
    }

    void write(List<String> view, List<String> before, List<String> wanted) throws Exception {
      switch (write) {
        case VALUE -> {
          value.update(view);
          assertThat(value.value()).isEqualTo(wanted);
        }
        case UPDATE -> {
          list.update(view);
          assertThat(shown(list)).isEqualTo(wanted);
        }
        case ADD_ALL -> {
          list.addAll(view);
          before.addAll(wanted);
          assertThat(shown(list)).isEqualTo(before);
        }
        case PUT_ALL -> {
          map.putAll(new IndexedView(view));
          for (int i = 0; i < wanted.size(); i++) {
            assertThat(map.get(i)).isEqualTo(wanted.get(i));
          }
        }
      }
    }
  }

  private static List<String> view(int size, IntFunction<String> element) {
    return new AbstractList<>() {
      @Override
      public String get(int index) {
        return element.apply(index);
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  /** A throwing supplier. */
  private interface Question<T> {
    T ask() throws Exception;
  }

  private static <T> T unchecked(Question<T> question) {
    try {
      return question.ask();
    } catch (Exception cause) {
      throw new AssertionError(cause);
    }
  }

  /** A map whose values are computed while it is iterated. */
  private static final class IndexedView extends AbstractMap<Integer, String> {
    private final List<String> values;

    IndexedView(List<String> values) {
      this.values = values;
    }

    @Override
    public Set<Map.Entry<Integer, String>> entrySet() {
      return new AbstractSet<>() {
        @Override
        public Iterator<Map.Entry<Integer, String>> iterator() {
          return IntStream.range(0, values.size())
              .<Map.Entry<Integer, String>>mapToObj(LazyEntry::new)
              .iterator();
        }

        @Override
        public int size() {
          return values.size();
        }
      };
    }

    /** An entry that computes its value on access. */
    private final class LazyEntry extends AbstractEntry {
      LazyEntry(int index) {
        super(index);
      }

      @Override
      public String getValue() {
        return values.get(getKey());
      }
    }
  }

  private abstract static class AbstractEntry implements Map.Entry<Integer, String> {
    private final int index;

    AbstractEntry(int index) {
      this.index = index;
    }

    @Override
    public Integer getKey() {
      return index;
    }

    @Override
    public String setValue(String value) {
      throw new AssertionError("a state does not change a user's object");
    }
  }

  /** The element is before the first batch, between two batches, or at the end of one. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 40, 199, 200, 399})
  void anElementThatCannotBeWrittenLeavesTheList(int broken) throws Exception {
    ListState<String> list = state(new ListStateDescriptor<>("list", StringSerializer.INSTANCE));
    List<String> old = IntStream.range(0, 1000).mapToObj(i -> "old " + i).toList();
    list.addAll(old);
    List<String> view =
        view(
            400,
            i -> {
              if (i == broken) {
                throw new IllegalStateException("broken");
              }
              return "new " + i;
            });
    assertThatThrownBy(() -> list.update(view)).hasMessage("broken");
    assertThat(shown(list)).isEqualTo(old);
    assertThatThrownBy(() -> list.addAll(view)).hasMessage("broken");
    assertThat(shown(list)).isEqualTo(old);
    list.add("last");
    assertThat(shown(list)).hasSize(1001).endsWith("last");
  }

  /** The list is written in pieces, and the first pieces are written before null is reached. */
  @Test
  void nullAtTheEndOfALongListLeavesTheList() throws Exception {
    ListState<byte[]> list =
        state(new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE));
    list.add(new byte[10]);
    List<byte[]> elements = new ArrayList<>(Collections.nCopies(20, new byte[1 << 20]));
    elements.add(null);
    assertThatThrownBy(() -> list.addAll(elements)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> list.update(elements)).isInstanceOf(NullPointerException.class);
    assertThat(shown(list)).hasSize(1);
  }

  @Test
  void aListLongerThanOneWriteIsWrittenInPieces() throws Exception {
    ListState<byte[]> list =
        state(new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE));
    list.add(new byte[10]);
    List<byte[]> elements =
        IntStream.range(0, 12_000).mapToObj(i -> new byte[1_400 + i % 200]).toList();
    list.update(elements);
    assertThat(shown(list).stream().mapToInt(element -> element.length).toArray())
        .isEqualTo(elements.stream().mapToInt(element -> element.length).toArray());
  }

  /** As with rocksdb, the last element cannot be distinguished from no element. */
  @Test
  void elementsThatAreWrittenAsNothingTakeTheOldOnesPlace() throws Exception {
    ListState<Integer> list =
        state(new ListStateDescriptor<>("list", new OddSerializers.AsNothing()));
    list.addAll(List.of(0, 0, 0));
    assertThat(shown(list)).containsExactly(0, 0);
    list.update(List.of(0, 0));
    assertThat(shown(list)).containsExactly(0);
    list.update(List.of(0));
    assertThat(shown(list)).isEmpty();
  }

  @Test
  void anEntryIsSetUnderTheBytesThatItHas() throws Exception {
    MapState<Integer, String> map =
        state(
            new MapStateDescriptor<>(
                "map", new OddSerializers.NeverTheSame(), StringSerializer.INSTANCE));
    for (int size : new int[] {3, 500}) {
      map.clear();
      for (int i = 0; i < size; i++) {
        map.put(i, "old");
      }
      for (Map.Entry<Integer, String> entry : map.entries()) {
        entry.setValue("new " + entry.getKey());
      }
      Map<Integer, String> seen = new HashMap<>();
      int entries = 0;
      for (Map.Entry<Integer, String> entry : map.entries()) {
        entries++;
        seen.put(entry.getKey(), entry.getValue());
      }
      assertThat(entries).isEqualTo(size);
      for (int i = 0; i < size; i++) {
        assertThat(seen).containsEntry(i, "new " + i);
      }
    }
  }

  /**
   * Maps in one record and in buckets, with small entries and large ones in records of their own.
   */
  @Test
  void entriesReplacedDuringAnIterationAreSeenOnce() throws Throwable {
    Seeds.run(
        30,
        random -> {
          backend.setCurrentKey(random.nextInt());
          MapState<Integer, byte[]> map =
              state(
                  new MapStateDescriptor<>(
                      "map", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE));
          int size = 2 + random.nextInt(random.nextBoolean() ? 5 : 200);
          int most = random.nextBoolean() ? 100 : 3_000;
          for (int i = 0; i < size; i++) {
            map.put(i, Seeds.bytes(random, 1 + random.nextInt(most)));
          }
          int puts = random.nextInt(4);
          int fresh = size;
          Map<Integer, Integer> seen = new HashMap<>();
          for (Map.Entry<Integer, byte[]> entry : map.entries()) {
            seen.merge(entry.getKey(), 1, Integer::sum);
            for (int i = 0; i < puts; i++) {
              map.put(random.nextInt(size), Seeds.bytes(random, 1 + random.nextInt(most)));
            }
            if (fresh < 2 * size && random.nextBoolean()) {
              map.put(fresh++, Seeds.bytes(random, 1 + random.nextInt(most)));
            }
          }
          for (int i = 0; i < fresh; i++) {
            if (i < size) {
              assertThat(seen).as("entry %s of %s", i, size).containsEntry(i, 1);
            } else {
              assertThat(seen.getOrDefault(i, 1)).as("added entry %s", i).isEqualTo(1);
            }
          }
          map.clear();
        });
  }
}

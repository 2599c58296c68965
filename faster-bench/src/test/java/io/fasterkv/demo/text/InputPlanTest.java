package io.fasterkv.demo.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputPlanTest {
  @TempDir private Path directory;

  @Test
  void aDirectoryIsReadInTheOrderOfItsNames() throws IOException {
    write("b/two.txt", "three four");
    write("a/one.txt", "one two");
    write("c.txt", "five");

    InputPlan plan = InputPlan.of(directory, 100);

    assertThat(plan.words()).isEqualTo(5);
    assertThat(plan.files()).isEqualTo(3);
    assertThat(words(plan)).containsExactly("one", "two", "three", "four", "five");
    assertThat(plan.ranges()).extracting(TextRange::wordsBefore).containsExactly(0L, 2L, 4L);
  }

  @Test
  void hiddenDirectoriesAndBinaryAndEmptyFilesAreLeftOut() throws IOException {
    write(".git/config", "hidden");
    write("data.bin", "some \0 data");
    write("empty", "");
    write("text", "seen");

    InputPlan plan = InputPlan.of(directory, 100);

    assertThat(words(plan)).containsExactly("seen");
    assertThat(plan.files()).isEqualTo(1);
  }

  @Test
  void oneFileIsAnInput() throws IOException {
    write("text", "just this");

    assertThat(words(InputPlan.of(directory.resolve("text"), 100))).containsExactly("just", "this");
  }

  @Test
  void theLimitCutsTheLastFile() throws IOException {
    SomeText.files(directory, 4, 10);

    InputPlan plan = InputPlan.of(directory, 25);

    assertThat(plan.words()).isEqualTo(25);
    assertThat(plan.ranges()).extracting(TextRange::words).containsExactly(10, 10, 5);
    assertThat(words(plan)).hasSize(25);
  }

  @Test
  void aZipGivesTheSameWordsAsItsFiles() throws IOException {
    Path zip = directory.resolve("texts");
    SomeText.zip(zip, 3, 50);

    InputPlan plan = InputPlan.of(zip, 1_000);

    assertThat(words(plan))
        .containsExactly(
            String.join(" ", SomeText.words(0, 50), SomeText.words(1, 50), SomeText.words(2, 50))
                .split(" "));
  }

  @Test
  void aLongFileIsReadInSeveralRanges() throws IOException {
    int words = 2 * InputPlan.MAX_RANGE_WORDS + 7;
    String text = SomeText.words(1, words);
    write("long", text);

    InputPlan plan = InputPlan.of(directory, Long.MAX_VALUE);

    assertThat(plan.ranges())
        .extracting(TextRange::words)
        .containsExactly(InputPlan.MAX_RANGE_WORDS, InputPlan.MAX_RANGE_WORDS, 7);
    assertThat(words(plan)).containsExactly(text.split(" "));
  }

  @Test
  void aRangeCanBeResumedAtEveryWord() throws IOException {
    SomeText.files(directory, 2, 40);
    InputPlan plan = InputPlan.of(directory, 1_000);
    TextRange range = plan.ranges().get(1);
    List<String> all = words(plan, range, 0);

    for (int read = 0; read <= range.words(); read++) {
      assertThat(words(plan, range, read)).isEqualTo(all.subList(read, all.size()));
    }
  }

  @Test
  void anInputThatShrinksIsNoticed() throws IOException {
    write("text", "one two three");
    InputPlan plan = InputPlan.of(directory, 100);
    write("text", "one");

    assertThatThrownBy(() -> words(plan))
        .isInstanceOf(EOFException.class)
        .hasMessageContaining("file=text")
        .hasMessageContaining("words=3, found=1");
  }

  @Test
  void theFinderKnowsTheRangeOfEveryWord() throws IOException {
    write("long", SomeText.words(1, InputPlan.MAX_RANGE_WORDS + 10));
    InputPlan plan = InputPlan.of(directory, Long.MAX_VALUE);
    InputPlan.RangeFinder finder = plan.finder();

    assertThat(finder.find("long", 0)).isEqualTo(plan.ranges().get(0));
    assertThat(finder.find("long", InputPlan.MAX_RANGE_WORDS)).isEqualTo(plan.ranges().get(1));
    assertThat(finder.find("long", InputPlan.MAX_RANGE_WORDS + 10)).isNull();
    assertThat(finder.find("long", -1)).isNull();
    assertThat(finder.find("short", 0)).isNull();
  }

  private void write(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(directory.resolve(name + "/..").normalize());
    Files.writeString(file, text);
  }

  private static List<String> words(InputPlan plan) throws IOException {
    List<String> words = new ArrayList<>();
    for (TextRange range : plan.ranges()) {
      words.addAll(words(plan, range, 0));
    }
    return words;
  }

  private static List<String> words(InputPlan plan, TextRange range, int read) throws IOException {
    List<String> words = new ArrayList<>();
    try (TextInput texts = TextInput.of(plan.input());
        RangeWords reader = new RangeWords(texts, range, read)) {
      while (reader.hasNext()) {
        words.add(reader.next());
      }
    }
    return words;
  }
}

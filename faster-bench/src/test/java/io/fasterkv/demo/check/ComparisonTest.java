package io.fasterkv.demo.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.demo.example.Occurrence;
import io.fasterkv.demo.example.WindowTotals;
import io.fasterkv.demo.example.WordSummary;
import io.fasterkv.demo.example.WordSummary.Positions;
import io.fasterkv.demo.text.InputPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonTest {
  private static final WordSummary CAT =
      new WordSummary(
          "cat",
          3,
          Map.of("a", 2, "b", 1),
          List.of(new Occurrence("b", 1), new Occurrence("a", 0), new Occurrence("a", 2)),
          new WindowTotals(3, 3, 1),
          new Positions(2, 1.0));
  private static final WordSummary DOG =
      new WordSummary(
          "dog",
          2,
          Map.of("a", 1, "b", 1),
          List.of(new Occurrence("a", 1), new Occurrence("b", 0)),
          new WindowTotals(2, 2, 1),
          new Positions(1, 0.5));

  @TempDir private Path directory;
  private Truth truth;
  private final Map<String, WordSummary> results = new HashMap<>();

  @BeforeEach
  void setUp() throws IOException {
    Files.writeString(directory.resolve("a"), "cat dog cat");
    Files.writeString(directory.resolve("b"), "dog cat");
    truth = Truth.of(InputPlan.of(directory, 100), 2);
    results.put("cat", CAT);
    results.put("dog", DOG);
  }

  @Test
  void nothingDiffersWhenEverythingIsRight() {
    Comparison comparison = compare();

    assertThat(comparison.listed()).isEmpty();
    assertThat(comparison.total()).isZero();
  }

  @Test
  void missingAndUnexpectedWordsAreListed() {
    results.remove("dog");
    results.put("emu", DOG);

    assertThat(compare().listed())
        .containsExactlyInAnyOrder(
            new Difference("dog", "count", "2", "no result"),
            new Difference("emu", "count", "0", "2"));
  }

  @Test
  void wrongCountIsListed() {
    put(4, CAT.files(), CAT.first(), CAT.windows(), CAT.positions());

    assertThat(compare().listed()).containsExactly(new Difference("cat", "count", "3", "4"));
  }

  @Test
  void wrongFilesAreListedWithoutTheRightOnes() {
    put(3, Map.of("a", 2, "c", 1), CAT.first(), CAT.windows(), CAT.positions());

    assertThat(compare().listed())
        .containsExactly(new Difference("cat", "files", "{b=1}", "{c=1}"));
  }

  @Test
  void wrongWindowsAndPositionsAreListed() {
    put(3, CAT.files(), CAT.first(), new WindowTotals(2, 2, 1), new Positions(2, 1.5));

    assertThat(compare().listed())
        .extracting(Difference::what)
        .containsExactly("windows", "positions");
  }

  @Test
  void anOccurrenceTooFewIsListed() {
    put(3, CAT.files(), CAT.first().subList(0, 2), CAT.windows(), CAT.positions());

    assertThat(compare().listed())
        .containsExactly(new Difference("cat", "number of first occurrences", "3", "2"));
  }

  @Test
  void occurrencesOfOneRangeMustBeItsFirstInOrder() {
    List<Occurrence> swapped = List.of(CAT.first().get(2), CAT.first().get(1), CAT.first().get(0));
    put(3, CAT.files(), swapped, CAT.windows(), CAT.positions());

    assertThat(compare().listed())
        .extracting(Difference::toString)
        .containsExactly(
            "first occurrences of 'cat': expected=position 0,"
                + " actual=Occurrence[file=a, position=2]");
  }

  @Test
  void anOccurrenceOutsideOfTheInputIsListed() {
    List<Occurrence> wrong =
        List.of(CAT.first().get(0), CAT.first().get(1), new Occurrence("a", 7));
    put(3, CAT.files(), wrong, CAT.windows(), CAT.positions());

    assertThat(compare().listed())
        .containsExactly(
            new Difference(
                "cat",
                "first occurrences",
                "no further one there",
                "Occurrence[file=a, position=7]"));
  }

  @Test
  void noMoreThanTwentyAreListedButAllAreCounted() {
    for (int i = 0; i < 50; i++) {
      WordSummary surplus =
          new WordSummary("x" + i, 1, Map.of(), List.of(), WindowTotals.NONE, new Positions(0, 0));
      results.put(surplus.text(), surplus);
    }

    assertThat(compare().listed()).hasSize(Comparison.LISTED);
    assertThat(compare().total()).isEqualTo(50);
  }

  private Comparison compare() {
    return Comparison.of(truth, results);
  }

  private void put(
      long count,
      Map<String, Integer> files,
      List<Occurrence> first,
      WindowTotals windows,
      Positions positions) {
    results.put("cat", new WordSummary("cat", count, files, first, windows, positions));
  }
}

package io.fasterkv.demo.check;

import io.fasterkv.demo.text.InputPlan;
import io.fasterkv.demo.text.RangeWords;
import io.fasterkv.demo.text.TextInput;
import io.fasterkv.demo.text.TextRange;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Computes the correct results for an input: one thread, one pass, hash maps. */
public final class Truth {
  private final Map<String, WordTruth> byWord = new HashMap<>();
  private final InputPlan plan;

  private Truth(InputPlan plan) {
    this.plan = plan;
  }

  /**
   * Reads all of {@code plan}.
   *
   * @param windowWords the length of a window, in words of the input, 1 or more
   */
  public static Truth of(InputPlan plan, long windowWords) throws IOException {
    Truth truth = new Truth(plan);
    try (TextInput texts = TextInput.of(plan.input())) {
      for (TextRange range : plan.ranges()) {
        try (RangeWords words = new RangeWords(texts, range, 0)) {
          while (words.hasNext()) {
            int inRange = words.read();
            long window = (range.wordsBefore() + inRange) / windowWords;
            truth
                .byWord
                .computeIfAbsent(words.next(), word -> new WordTruth())
                .add(range, range.firstWord() + inRange, window);
          }
        }
      }
    }
    return truth;
  }

  /** Returns the truth about each word. */
  public Map<String, WordTruth> byWord() {
    return byWord;
  }

  InputPlan plan() {
    return plan;
  }
}

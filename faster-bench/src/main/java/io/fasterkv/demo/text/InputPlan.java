package io.fasterkv.demo.text;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which words are read, in which order: the same input and limit give the same plan.
 *
 * @param input the file, directory or zip file
 * @param ranges every word exactly once, in order
 * @param files how many texts have at least one of the words
 * @param words how many words in all
 */
public record InputPlan(Path input, List<TextRange> ranges, int files, long words) {
  /** A longer file is read in several ranges of this many words, so that readers share it. */
  public static final int MAX_RANGE_WORDS = 50_000;

  public InputPlan {
    ranges = List.copyOf(ranges);
  }

  /**
   * Reads the input once and lists its ranges.
   *
   * @param limit at most this many words, 1 or more
   */
  public static InputPlan of(Path input, long limit) throws IOException {
    try (TextInput texts = TextInput.of(input)) {
      Builder builder = new Builder(limit);
      for (String name : texts.names()) {
        if (builder.words >= limit) {
          break;
        }
        if (texts.isText(name)) {
          try (Tokenizer tokenizer = new Tokenizer(texts.open(name, 0), 0)) {
            builder.addFile(name, tokenizer);
          }
        }
      }
      return new InputPlan(input, builder.ranges, builder.files, builder.words);
    }
  }

  /** Finds the range of the word at {@code position} of {@code file}. */
  public RangeFinder finder() {
    return new RangeFinder(this);
  }

  /** Maps a file and a position in it, counted in words, to the range that holds it. */
  public static final class RangeFinder {
    private final Map<String, TreeMap<Integer, TextRange>> byFile = new HashMap<>();

    private RangeFinder(InputPlan plan) {
      for (TextRange range : plan.ranges()) {
        byFile.computeIfAbsent(range.file(), file -> new TreeMap<>()).put(range.firstWord(), range);
      }
    }

    /** Returns the range, or null if no word of the plan is there. */
    public @Nullable TextRange find(String file, int position) {
      TreeMap<Integer, TextRange> ranges = byFile.get(file);
      Map.Entry<Integer, TextRange> entry = ranges == null ? null : ranges.floorEntry(position);
      if (entry == null || position - entry.getKey() >= entry.getValue().words()) {
        return null;
      }
      return entry.getValue();
    }
  }

  private static final class Builder {
    private final long limit;
    private final List<TextRange> ranges = new ArrayList<>();
    private int files;
    private long words;

    Builder(long limit) {
      this.limit = limit;
    }

    void addFile(String name, Tokenizer tokenizer) throws IOException {
      int firstWord = 0;
      long offset = 0;
      int inRange = 0;
      while (words + inRange < limit && tokenizer.next() != null) {
        if (inRange == MAX_RANGE_WORDS) {
          add(name, offset, firstWord, inRange);
          firstWord += inRange;
          inRange = 0;
        }
        if (inRange == 0) {
          offset = tokenizer.wordOffset();
        }
        inRange++;
      }
      if (inRange > 0) {
        add(name, offset, firstWord, inRange);
      }
      if (firstWord + inRange > 0) {
        files++;
      }
    }

    private void add(String name, long offset, int firstWord, int count) {
      ranges.add(new TextRange(ranges.size(), name, offset, firstWord, count, words));
      words += count;
    }
  }
}

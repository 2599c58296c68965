package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Occurrence;
import io.fasterkv.demo.example.WordSummary;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The job's results at the end of the input, by word. A result that is emitted again after a
 * failure replaces the first one; if it differs, it is a conflict.
 */
public final class Results {
  private final Map<String, WordSummary> byWord = new ConcurrentHashMap<>();
  private final Map<String, String> fileNames = new ConcurrentHashMap<>();
  private final LongAdder conflicts = new LongAdder();

  void put(WordSummary summary) {
    WordSummary compact = shareFileNames(summary);
    WordSummary before = byWord.put(summary.text(), compact);
    if (before != null && !before.equals(compact)) {
      conflicts.increment();
    }
  }

  /** Returns the results by word. */
  public Map<String, WordSummary> byWord() {
    return byWord;
  }

  /** Returns how many words were emitted twice with different results, 0 or more. */
  public long conflicts() {
    return conflicts.sum();
  }

  /** Otherwise millions of equal names would be millions of strings. */
  private WordSummary shareFileNames(WordSummary summary) {
    Map<String, Integer> files = new HashMap<>();
    summary.files().forEach((file, count) -> files.put(shared(file), count));
    return new WordSummary(
        summary.text(),
        summary.count(),
        files,
        summary.first().stream().map(o -> new Occurrence(shared(o.file()), o.position())).toList(),
        summary.windows(),
        summary.positions());
  }

  private String shared(String file) {
    String known = fileNames.putIfAbsent(file, file);
    return known == null ? file : known;
  }
}

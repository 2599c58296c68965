package io.fasterkv.demo;

import io.fasterkv.demo.text.InputPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** Selects the text to read. */
final class InputChoice {
  private InputChoice() {}

  /**
   * Returns {@code given}, or the sources that come with the JDK at {@code javaHome}.
   *
   * @throws UsageException if there is no such file or directory
   */
  static Path find(@Nullable Path given, Path javaHome) throws UsageException {
    if (given != null) {
      if (!Files.isReadable(given)) {
        throw new UsageException(
            "there is nothing to read: --input="
                + given
                + ", allowed=a readable file, directory or zip file");
      }
      return given.toAbsolutePath();
    }
    Path sources = javaHome.resolve("lib").resolve("src.zip");
    if (!Files.isReadable(sources)) {
      throw new UsageException(
          "this JDK comes without its sources: file="
              + sources
              + "; pass --input <file|directory|zip> with some text, at best millions of words");
    }
    return sources;
  }

  /**
   * Counts the words of {@code input}.
   *
   * @param limit at most this many
   * @throws UsageException if they are too few, or {@code input} is damaged
   */
  static InputPlan plan(Path input, long limit) throws IOException, UsageException {
    InputPlan plan;
    try {
      plan = InputPlan.of(input, limit);
    } catch (ZipException e) {
      throw new UsageException(
          "the zip file cannot be read: --input=" + input + ", reason=" + e.getMessage());
    }
    if (plan.words() < DemoOptions.LEAST_WORDS) {
      throw new UsageException(
          "the input has too few words: --input="
              + input
              + ", words="
              + plan.words()
              + ", allowed="
              + DemoOptions.LEAST_WORDS
              + " or more");
    }
    return plan;
  }
}

package io.fasterkv.demo.text;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Text for tests: the same for every call, with a few frequent and many rare words. */
public final class SomeText {
  private SomeText() {}

  /** Writes files with {@code wordsInFile} words each into two directories below {@code root}. */
  public static void files(Path root, int files, int wordsInFile) throws IOException {
    for (int i = 0; i < files; i++) {
      Path directory = Files.createDirectories(root.resolve(i % 2 == 0 ? "even" : "odd"));
      Files.writeString(directory.resolve("file" + i + ".txt"), words(i, wordsInFile));
    }
  }

  /** Writes a zip file with {@code entries} entries of {@code wordsInEntry} words each. */
  public static void zip(Path zip, int entries, int wordsInEntry) throws IOException {
    try (OutputStream file = Files.newOutputStream(zip);
        ZipOutputStream out = new ZipOutputStream(file)) {
      out.putNextEntry(new ZipEntry("directory/"));
      for (int i = 0; i < entries; i++) {
        out.putNextEntry(new ZipEntry("directory/entry" + i));
        out.write(words(i, wordsInEntry).getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  /** Returns {@code count} words. */
  public static String words(int seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    return random
        .doubles(count)
        .mapToObj(share -> "w" + (int) (1_000 * share * share * share))
        .collect(Collectors.joining(" "));
  }
}

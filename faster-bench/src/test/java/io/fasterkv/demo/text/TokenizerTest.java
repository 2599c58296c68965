package io.fasterkv.demo.text;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TokenizerTest {
  @Test
  void wordsAreLowerCaseAndBeginWithALetter() throws IOException {
    assertThat(words("public int x2 = HashMap_of(3rd, _y, 0xFF);"))
        .containsExactly("public", "int", "x2", "hashmap_of", "rd", "y", "xff");
  }

  @Test
  void nothingIsInAnEmptyText() throws IOException {
    assertThat(words("")).isEmpty();
    assertThat(words(" 12 + 34 _ ")).isEmpty();
  }

  @Test
  void otherScriptsAreWords() throws IOException {
    assertThat(words("Ärger, naïve «слово» 東京 😀 a\u0301b"))
        .containsExactly("ärger", "naïve", "слово", "東京", "a\u0301b");
  }

  @Test
  void malformedBytesSeparateWords() throws IOException {
    byte[] text = "caf\u00e9 au\u00fflait\u00c3".getBytes(ISO_8859_1);

    assertThat(words(text, 0)).containsExactly("caf", "au", "lait");
  }

  @Test
  void aRunThatIsTooLongIsSkippedWhole() throws IOException {
    String longest = "x".repeat(Tokenizer.MAX_WORD_CHARS);

    assertThat(words("a " + longest + "y b " + longest + " c"))
        .containsExactly("a", "b", longest, "c");
  }

  @Test
  void aWordMayCrossTheBuffer() throws IOException {
    for (int before = (1 << 14) - 5; before < (1 << 14) + 2; before++) {
      assertThat(words(" ".repeat(before) + "größe w")).containsExactly("größe", "w");
    }
  }

  @Test
  void readingFromTheOffsetOfAWordGivesItAndAllThatFollow() throws IOException {
    long seed = new SplittableRandom().nextLong();
    byte[] text = randomText(new SplittableRandom(seed), 2_000);
    List<String> all = words(text, 0);
    Tokenizer tokenizer = new Tokenizer(new ByteArrayInputStream(text), 0);
    for (int i = 0; tokenizer.next() != null; i++) {
      assertThat(words(text, Math.toIntExact(tokenizer.wordOffset())))
          .describedAs("seed=%s, word=%s", seed, i)
          .isEqualTo(all.subList(i, all.size()));
    }
  }

  private static byte[] randomText(SplittableRandom random, int length) {
    String alphabet = "aB9_ é東\u0301\ud83d\ude00-";
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    byte[] bytes = text.toString().getBytes(UTF_8);
    for (int i = 0; i < length / 50; i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    return bytes;
  }

  private static List<String> words(String text) throws IOException {
    return words(text.getBytes(UTF_8), 0);
  }

  private static List<String> words(byte[] text, int from) throws IOException {
    byte[] rest = Arrays.copyOfRange(text, from, text.length);
    List<String> words = new ArrayList<>();
    try (Tokenizer tokenizer = new Tokenizer(new ByteArrayInputStream(rest), from)) {
      for (String word = tokenizer.next(); word != null; word = tokenizer.next()) {
        words.add(word);
      }
    }
    return words;
  }
}

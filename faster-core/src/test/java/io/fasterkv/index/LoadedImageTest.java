package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.index.LoadedImage.Limits;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests images with all kinds of words against the rules of docs/FORMAT.md, word by word. */
@Tag("seeds")
class LoadedImageTest {
  private static final int IMAGES = 3000;
  private static final int MAIN = 4;
  private static final int OVERFLOW = 3;
  private static final int BUCKETS = MAIN + OVERFLOW;
  private static final int WORDS = 8;
  private static final Limits LIMITS = new Limits(4096, 1L << 40, BUCKETS);

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void acceptsExactlyWhatTheRulesAllow(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < IMAGES; i++) {
      long[] image = image(random);
      Rules rules = Rules.of(image, LIMITS);
      assertThat(check(image, rules)).as("seed " + seed + ", image " + i).isEqualTo(rules.wrong);
      accepted += rules.wrong < 0 ? 1 : 0;
      refused += rules.wrong < 0 ? 0 : 1;
    }
    assertThat(accepted).as("seed " + seed).isPositive();
    assertThat(refused).as("seed " + seed).isPositive();
  }

  /** Words that are mostly valid. */
  private static long[] image(SplittableRandom random) {
    long[] words = new long[BUCKETS * WORDS];
    for (int at = 0; at < words.length; at++) {
      words[at] = at % WORDS == WORDS - 1 ? link(random) : entry(random);
    }
    if (random.nextInt(3) == 0) {
      words[random.nextInt(words.length)] ^= 1L << random.nextInt(64);
    }
    return words;
  }

  private static long entry(SplittableRandom random) {
    long address =
        switch (random.nextInt(6)) {
          case 0 -> LIMITS.begin();
          case 1 -> LIMITS.begin() - 8;
          case 2 -> LIMITS.end() - 8;
          default -> random.nextLong(LIMITS.begin(), LIMITS.end()) & -8;
        };
    long tag = (long) random.nextInt(1 << 14) << Address.BITS;
    return switch (random.nextInt(300)) {
      case 0 -> BucketLayout.OCCUPIED | tag | LIMITS.end();
      case 1 -> tag | address;
      default -> random.nextInt(3) == 0 ? 0 : BucketLayout.OCCUPIED | tag | address;
    };
  }

  private static long link(SplittableRandom random) {
    return switch (random.nextInt(20)) {
      case 0 -> BucketLayout.SATURATED | (random.nextBoolean() ? BucketLayout.REOPENED : 0);
      case 1, 2 -> MAIN + random.nextInt(OVERFLOW);
      case 3 -> random.nextInt(30) == 0 ? random.nextInt(BUCKETS + 2) : 0;
      default -> 0;
    };
  }

  /**
   * Returns the offset of the first wrong word, negative if there is none; in that case, checks the
   * table too.
   */
  private static long check(long[] image, Rules rules) {
    try (OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20))) {
      IndexTable table = new IndexTable(arena, new IndexGeometry(MAIN, OVERFLOW), OVERFLOW);
      for (int at = 0; at < image.length; at++) {
        Words.storePlain(table.memory(), (long) at * Long.BYTES, image[at]);
      }
      long wrong = new LoadedImage(table, LIMITS).check(0, table.memory());
      if (wrong < 0) {
        assertThat(table.entries()).isEqualTo(rules.entries);
        assertThat(table.saturatedChains()).isEqualTo(rules.saturated);
        for (int at = 0; at < image.length; at++) {
          assertThat(Words.loadPlain(table.memory(), (long) at * Long.BYTES))
              .as("word " + at)
              .isEqualTo(rules.kept[at]);
        }
      }
      return wrong;
    }
  }

  /** The expected result of a load. */
  private static final class Rules {
    private final long[] kept;
    private long wrong = -1;
    private long entries;
    private long saturated;

    private Rules(long[] image) {
      kept = image.clone();
    }

    static Rules of(long[] image, Limits limits) {
      Rules rules = new Rules(image);
      Set<Long> linked = new HashSet<>();
      for (int at = 0; at < image.length && rules.wrong < 0; at++) {
        boolean isRight =
            at % WORDS == WORDS - 1
                ? rules.takeLink(image[at], at / WORDS, linked)
                : rules.takeEntry(at, image[at], limits);
        rules.wrong = isRight ? -1 : (long) at * Long.BYTES;
      }
      return rules;
    }

    private boolean takeEntry(int at, long word, Limits limits) {
      long address = word & Address.MASK;
      if (word == 0) {
        return true;
      }
      if (address < limits.begin()) {
        kept[at] = 0;
      } else {
        entries++;
      }
      return word >>> 62 == 1 && address < limits.end() && address % 8 == 0;
    }

    private boolean takeLink(long word, int bucket, Set<Long> linked) {
      long next = word & ((1L << 40) - 1);
      boolean isSaturated = word < 0;
      if (isSaturated) {
        saturated++;
      }
      long marks = word & ~next;
      return (marks == 0 || marks == 1L << 63 || marks == 3L << 62)
          && !(isSaturated && bucket >= MAIN)
          && (next == 0 || (next >= MAIN && next < BUCKETS && linked.add(next)));
    }
  }
}

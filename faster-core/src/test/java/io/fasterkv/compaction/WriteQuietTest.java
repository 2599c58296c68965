package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WriteQuietTest {
  private static final long PAGE = 4096;

  private long written = 10 * PAGE;
  private final WriteQuiet quiet = new WriteQuiet(() -> written, PAGE);

  @Test
  void isQuietAfterSomeLooksUntilAPageIsWritten() {
    for (int round = 0; round < 3; round++) {
      for (int look = 1; look < WriteQuiet.LOOKS; look++) {
        written += PAGE / WriteQuiet.LOOKS / 2;
        assertThat(quiet.isQuiet()).as("round " + round + ", look " + look).isFalse();
      }
      assertThat(quiet.isQuiet()).isTrue();
      assertThat(quiet.isQuiet()).as("and remains quiet").isTrue();
      quiet.countAgain();
      assertThat(quiet.isQuiet()).as("but must be found anew").isFalse();
      written += PAGE;
      assertThat(quiet.isQuiet()).isFalse();
    }
  }
}

package io.fasterkv.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path directory;

  /** Ends at once. */
  public static final class Short {
    /** The process. */
    public static void main(String[] arguments) {
      System.out.println("the argument is " + arguments[0]);
      System.exit(3);
    }
  }

  /** Ends when it is killed. */
  public static final class Endless {
    /** The process. */
    public static void main(String[] arguments) throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  @Test
  void aProcessThatHasEndedSaysWhatItPrinted() throws Exception {
    Path output = directory.resolve("out");
    try (ChildJvm child = ChildJvm.start("short", Short.class, List.of(), List.of("x"), output)) {
      child.await(PATIENCE);
      assertThatThrownBy(child::check)
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("name=short, exit=3", "the argument is x");
    }
  }

  @Test
  void aProcessEndsWhenItIsClosed() throws Exception {
    Path output = directory.resolve("out");
    ChildJvm child = ChildJvm.start("endless", Endless.class, List.of(), List.of(), output);
    child.check();
    assertThat(child.peakBytes()).isNotNegative();
    child.close();
    assertThatThrownBy(child::check).hasMessageContaining("name=endless");
  }

  @Test
  void aProcessEndsWhenItsParentDoes() throws Exception {
    List<String> command =
        Commands.java(TiedMain.class, List.of(), List.of(Endless.class.getName()));
    Process process = new ProcessBuilder(command).start();
    try {
      process.getOutputStream().close(); // as when the parent dies
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(75);
    } finally {
      process.destroyForcibly();
    }
  }
}

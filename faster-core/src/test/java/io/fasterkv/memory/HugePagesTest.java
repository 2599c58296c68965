package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests stores with and without native access, each in a JVM of its own that denies illegal native
 * access.
 */
@EnabledOnOs(OS.LINUX)
class HugePagesTest {
  private static final String HINT = "no huge pages without native access";

  @TempDir Path directory;

  @Tag("slow")
  @Test
  void withoutNativeAccessOneLineSaysSoAndStoresWork() throws Exception {
    String output = run(List.of());
    assertThat(output).contains("works").doesNotContain("restricted");
    assertThat(output.split(HINT, -1)).as(output).hasSize(2);
    assertThat(output.split("--enable-native-access", -1)).as(output).hasSize(2);
  }

  @Test
  void withNativeAccessNothingIsSaidAboutItAndStoresWork() throws Exception {
    String output = run(List.of("--enable-native-access=ALL-UNNAMED"));
    assertThat(output).contains("works").doesNotContain("restricted").doesNotContain(HINT);
  }

  @Tag("slow")
  @Test
  void nothingIsSaidWhenNoHugePagesAreWanted() throws Exception {
    String output = run(List.of("-Dhuge=false"));
    assertThat(output).contains("works").doesNotContain(HINT);
  }

  private String run(List<String> options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("--illegal-native-access=deny", "-Xmx64m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName()));
    command.add(directory.toString());
    Path output = directory.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int exit = process.waitFor();
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(exit).as(text).isZero();
    return text;
  }

  /** Opens two stores, fills them and closes them. */
  static final class Child {
    private static final int KEYS = 200_000;

    private Child() {}

    public static void main(String[] args) {
      for (String name : List.of("a", "b")) {
        StoreConfig config =
            StoreConfig.builder(Path.of(args[0], name))
                .recordKind(RecordKind.LONGS)
                .memoryBytes(32 << 20)
                .hugePages(!"false".equals(System.getProperty("huge")))
                .deleteOnClose(true)
                .build();
        try (FasterStore store = FasterStore.open(config);
            LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
          fill(session);
        }
      }
      System.out.println("works");
    }

    private static void fill(LongSession<Void> session) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
      for (long key = 0; key < KEYS; key++) {
        session.prefetch(key);
        session.rmw(key, 1, null);
        session.upsert(key, session.value() - 1, null);
      }
      for (long key = 0; key < KEYS; key++) {
        if (session.read(key, null) != Status.FOUND || session.value() != key) {
          throw new AssertionError("key " + key);
        }
      }
    }
  }
}

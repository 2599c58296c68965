package io.fasterkv.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.process.Jvm;
import java.io.File;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compiles the Java examples in the README and the guides, except incomplete ones, and runs the
 * programs in docs/examples.
 */
class ExamplesTest {
  private static final String LEFT_OUT = "...";
  private static final int MOST_LINES = 80;
  private static final int MOST_MINUTES = 5;

  /** Imports and names that the examples use without declaring them. */
  private static final String SCENE =
      """
      import io.fasterkv.*;
      import io.fasterkv.api.*;
      import io.fasterkv.api.config.*;
      import io.fasterkv.api.config.StoreConfig.RecordKind;
      import io.fasterkv.api.statistics.*;
      import io.fasterkv.epoch.*;
      import java.lang.foreign.Arena;
      import java.nio.file.Path;
      import java.util.concurrent.atomic.AtomicReference;

      abstract class Example%d {
        FasterStore store;
        LongSession<Void> session;
        System.Logger log;
        long[] keys;
        long[] amounts;
        void run() throws Exception {
      %s
        }
      }
      """;

  @TempDir Path classes;

  @TempDir Path data;

  @Test
  void ofTheGuidesCompile() {
    List<JavaFileObject> sources = new ArrayList<>();
    for (String name : List.of("README.md", "docs/STORE.md")) {
      for (String block : Documents.blocks(Documents.ROOT.resolve(name), "java")) {
        if (!block.contains(LEFT_OUT)) {
          sources.add(source("Example" + sources.size(), SCENE.formatted(sources.size(), block)));
        }
      }
    }
    assertThat(sources).hasSizeGreaterThan(3);
    compile(sources);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"CounterStore", "ResumedSession", "DatabaseCache", "WordCountJob"})
  void programsRun(String name) throws Exception {
    Path file = Documents.ROOT.resolve("docs/examples").resolve(name + ".java");
    assertThat(Files.readAllLines(file)).hasSizeLessThan(MOST_LINES);
    compile(List.of(source(name, Files.readString(file))));
    try (Jvm program =
        Jvm.start(name, data, classPath(), List.of(), List.of(name, data.toString()))) {
      assertThat(program.awaitEnd(MOST_MINUTES)).as(program.tail()).isZero();
    }
  }

  private List<Path> classPath() {
    String own =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Stream.concat(
            Stream.of(classes),
            Arrays.stream(own.split(File.pathSeparator))
                .filter(part -> !part.isEmpty())
                .map(Path::of))
        .toList();
  }

  private void compile(List<JavaFileObject> sources) {
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    StringWriter messages = new StringWriter();
    List<String> options = List.of("-d", classes.toString(), "-proc:none");
    boolean compiles = compiler.getTask(messages, null, null, options, null, sources).call();
    assertThat(compiles).as(messages.toString()).isTrue();
  }

  private static JavaFileObject source(String name, String text) {
    return new SimpleJavaFileObject(
        URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
      }
    };
  }
}

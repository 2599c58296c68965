package io.fasterkv.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java examples of README and guides compile, but for those that leave something out. */
class ExamplesTest {
  private static final String LEFT_OUT = "...";

  /** Names that the examples take for granted. */
  private static final String SCENE =
      """
      import io.fasterkv.*;
      import io.fasterkv.api.*;
      import io.fasterkv.api.StoreConfig.RecordKind;
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

  @Test
  void compile() {
    List<JavaFileObject> sources = new ArrayList<>();
    for (String name : List.of("README.md", "docs/STORE.md")) {
      for (String block : Documents.blocks(Documents.ROOT.resolve(name), "java")) {
        if (!block.contains(LEFT_OUT)) {
          sources.add(source(sources.size(), block));
        }
      }
    }
    assertThat(sources).hasSizeGreaterThan(3);
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    StringWriter messages = new StringWriter();
    List<String> options = List.of("-d", classes.toString(), "-proc:none");
    boolean compiles = compiler.getTask(messages, null, null, options, null, sources).call();
    assertThat(compiles).as(messages.toString()).isTrue();
  }

  private static JavaFileObject source(int number, String block) {
    String text = SCENE.formatted(number, block);
    return new SimpleJavaFileObject(
        URI.create("string:///Example" + number + ".java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
      }
    };
  }
}

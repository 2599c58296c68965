package io.fasterkv.bench.checkpoints;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.BytesSession;
import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.bench.BenchMain;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Tag("long")
class CheckpointsCommandTest {
  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    CommandLine line = BenchMain.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    List<String> all = new ArrayList<>(List.of("checkpoints"));
    all.addAll(List.of(arguments));
    all.add("--directory=" + directory);
    return line.execute(all.toArray(String[]::new));
  }

  private StoreConfig config(RecordKind kind) {
    return StoreConfig.builder(directory)
        .recordKind(kind)
        .memoryBytes(8 << 20)
        .pageBytes(4096)
        .build();
  }

  /** A fold-over with an image, and a snapshot without one. */
  private void twoCheckpoints() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        LongSession<Void> session =
            store
                .newSession()
                .identity(SessionIdentity.start("writer"))
                .longs(LongFunctions.sum())) {
      for (long key = 0; key < 1000; key++) {
        session.upsert(key, -key, null);
      }
      store.checkpoints().take();
      session.upsert(7, 42, null);
      session.delete(8, null);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.SNAPSHOT));
    }
  }

  @Test
  void listsAllCheckpoints() {
    twoCheckpoints();

    assertThat(run("list")).isZero();

    assertThat(out.toString().lines())
        .hasSize(3)
        .anySatisfy(line -> assertThat(line).contains("1").contains("fold-over").contains("own"))
        .anySatisfy(line -> assertThat(line).contains("2").contains("snapshot").contains("of 1"));
  }

  @Test
  void describesTheNewestOrTheOneThatIsNamed() {
    twoCheckpoints();

    assertThat(run("describe")).isZero();
    assertThat(out.toString())
        .contains("checkpoint  2", "kind        snapshot", "records     longs")
        .contains("image: of 1", "recovery goes over the log from", "in snapshots from there")
        .contains("  writer  1002")
        .contains("checkpoint-2.manifest");

    assertThat(run("describe", "--number=1")).isZero();
    assertThat(out.toString()).contains("kind        fold-over", "image: own", "  writer  1000");
  }

  @Test
  void dumpsLiveRecords() {
    twoCheckpoints();

    assertThat(run("dump")).isZero();
    assertThat(out.toString().lines().map(line -> line.substring(line.indexOf('\t') + 1)))
        .hasSize(999)
        .contains("7\t42", "9\t-9")
        .doesNotContain("7\t-7", "8\t-8");

    assertThat(run("dump", "--number=1", "--limit=10")).isZero();
    assertThat(out.toString().lines()).hasSize(10);
  }

  @Test
  void bytesAreTextOrHexadecimal() {
    try (FasterStore store = FasterStore.open(config(RecordKind.SPANS));
        BytesSession session = store.newSession().bytes()) {
      session.put(bytes("name"), bytes("a \"b\" \u00e4"));
      session.put(new byte[] {0, (byte) 0xff}, bytes("x".repeat(300)));
      store.checkpoints().take();
    }

    assertThat(run("dump", "--bytes=20")).isZero();
    assertThat(out.toString())
        .contains("\t\"name\"\t\"a \\\"b\\\" \u00e4\"")
        .contains("\t0x00ff\t\"xxxxxxxxxxxxxxxxxxxx\"... of 300 bytes");

    assertThat(run("dump", "--hex")).isZero();
    assertThat(out.toString()).contains("\t0x6e616d65\t");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void verifiesAllCheckpointsAndNamesDamagedOnes() throws IOException {
    twoCheckpoints();
    assertThat(run("verify")).isZero();
    assertThat(out.toString()).contains("checkpoint 1: ok", "checkpoint 2: ok");

    Path index = directory.resolve("checkpoint-1.index");
    try (RandomAccessFile file = new RandomAccessFile(index.toFile(), "rw")) {
      long middle = file.length() / 2;
      file.seek(middle);
      int old = file.read();
      file.seek(middle);
      file.write(old ^ 1);
    }

    assertThat(run("verify", "--number=1")).isEqualTo(1);
    assertThat(out.toString()).contains("checkpoint 1: DAMAGED", index.toString(), "offset=");
  }

  @Test
  void aManifestThatCannotBeReadIsListedAsDamaged() throws IOException {
    twoCheckpoints();
    Path manifest = directory.resolve("checkpoint-2.manifest");
    byte[] bytes = Files.readAllBytes(manifest);
    bytes[bytes.length / 2] ^= 1;
    Files.write(manifest, bytes);

    assertThat(run("list")).isEqualTo(1);
    assertThat(out.toString()).contains("fold-over", "checkpoint 2: DAMAGED", manifest.toString());

    assertThat(run("describe")).isEqualTo(1);
    assertThat(err.toString()).contains("DAMAGED", manifest.toString());
  }

  @Test
  void nothingIsChanged() throws IOException {
    twoCheckpoints();
    List<String> before = contents();

    run("list");
    run("describe");
    run("verify");
    run("dump");

    assertThat(contents()).isEqualTo(before);
  }

  private List<String> contents() throws IOException {
    List<String> contents = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.sorted().toList()) {
        contents.add(file.getFileName() + " " + Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return contents;
  }

  @Test
  void missingCheckpointsAreRefused() {
    assertThat(run("describe")).isEqualTo(2);
    assertThat(err.toString()).contains("there is no checkpoint", directory.toString());

    twoCheckpoints();
    assertThat(run("verify", "--number=9")).isEqualTo(2);
    assertThat(run("dump", "--bytes=0")).isEqualTo(2);
    assertThat(run("list", "--number=0")).isEqualTo(2);
    assertThat(run("show")).isEqualTo(2);
  }
}

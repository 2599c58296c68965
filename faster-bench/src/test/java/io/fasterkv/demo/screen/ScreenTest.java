package io.fasterkv.demo.screen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.report.Sizes;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, UTF_8);

  @Test
  void sizesHaveThreeDigits() {
    assertThat(Sizes.bytes(0)).isEqualTo("0 B");
    assertThat(Sizes.bytes(999)).isEqualTo("999 B");
    assertThat(Sizes.bytes(1000)).isEqualTo("0.98 KiB");
    assertThat(Sizes.bytes(1 << 20)).isEqualTo("1.00 MiB");
    assertThat(Sizes.bytes(52_800_000)).isEqualTo("50.4 MiB");
    assertThat(Sizes.bytes(3L << 40)).isEqualTo("3.00 TiB");
    assertThat(Sizes.count(85_300)).isEqualTo("85.3k");
    assertThat(Sizes.count(4_000_000)).isEqualTo("4.00M");
    assertThat(Sizes.full(4_000_000)).isEqualTo("4,000,000");
  }

  @Test
  void ticksAlwaysHaveTheSameWidth() {
    assertThat(new Tick(0, 10, 0, 0, 0, 0).text())
        .hasSameSizeAs(new Tick(9_990_000, 9_990_000, 99_900, 1 << 29, 9999, 0).text())
        .hasSameSizeAs(new Tick(5, 10, 1.5, 1 << 10, 3, 4).text());
    assertThat(new Tick(5, 10, 1.5, 1 << 10, 3, 4).text())
        .isEqualTo("    5 words      2/s  state 1.00 KiB  checkpoint    4 in flight");
  }

  @Test
  void throughputIsThatOfTheLastSeconds() {
    Speedometer speedometer = new Speedometer();
    long second = 1_000_000_000L;

    assertThat(speedometer.at(0, 0)).isZero();
    assertThat(speedometer.at(second, 1_000)).isEqualTo(1_000);
    for (int i = 2; i < 20; i++) {
      speedometer.at(i * second, 1_000);
    }
    assertThat(speedometer.at(20 * second, 1_000)).isZero();
  }

  @Test
  void plainProgressIsALineNowAndThen() {
    try (PlainScreen screen = new PlainScreen(out)) {
      screen.update(new Tick(5, 10, 1, 0, 0, 0));
      screen.update(new Tick(6, 10, 1, 0, 0, 0));
      screen.event("half way");
    }

    assertThat(bytes.toString(UTF_8).lines())
        .containsExactly(
            " 50 %      5 words      1/s  state        -  no checkpoint yet", "half way");
  }

  @Test
  void theBarIsBelowEventsAndSilentOnceClosed() throws InterruptedException {
    BarScreen screen = new BarScreen(out, 100);
    screen.update(new Tick(5, 10, 1, 0, 0, 0));
    for (int i = 0; i < 100 && bytes.size() == 0; i++) {
      Thread.sleep(50);
    }
    screen.event("half way");
    screen.close();
    screen.update(new Tick(6, 10, 1, 0, 0, 0));
    int closed = bytes.size();
    Thread.sleep(500);

    String text = bytes.toString(UTF_8);
    assertThat(text).contains("%").contains("\r\u001b[Khalf way" + System.lineSeparator());
    assertThat(bytes.size()).isEqualTo(closed);
  }

  @Test
  void theTableShowsRowsSpreadEvenlyAndEverySavepoint() {
    List<CheckpointRow> rows = new ArrayList<>();
    for (int id = 1; id <= 100; id++) {
      String kind = id == 42 ? "savepoint" : id == 50 ? "checkpoint, aborted" : "checkpoint";
      rows.add(new CheckpointRow(id, kind, id, 2 * id, 3 * id, new CheckpointRow.Bytes(1, 1024)));
    }

    List<String> few = CheckpointTable.lines(rows, 5);

    assertThat(few.subList(1, few.size() - 3))
        .extracting(line -> line.strip().replaceAll(" .*", ""))
        .containsExactly("1", "21", "41", "42", "62", "82", "100");
    assertThat(few.getLast()).startsWith("1 more");
    assertThat(few.get(few.size() - 3)).containsPattern("median of 99 +51 +102 +153 ");
    assertThat(few.get(few.size() - 2)).containsPattern("highest +100 +200 +300 ");
    assertThat(CheckpointTable.lines(rows, 0)).hasSize(1 + 99 + 3);
    assertThat(CheckpointTable.lines(List.of(), 5)).hasSize(1);
  }
}

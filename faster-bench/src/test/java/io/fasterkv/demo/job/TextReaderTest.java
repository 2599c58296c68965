package io.fasterkv.demo.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.demo.example.Word;
import io.fasterkv.demo.text.InputPlan;
import io.fasterkv.demo.text.SomeText;
import io.fasterkv.demo.text.TextInput;
import io.fasterkv.demo.text.TextRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextReaderTest {
  private static final int WORDS_IN_FILE = 30;

  @TempDir private Path directory;
  private InputPlan plan;
  private RunControl control;
  private final AtomicInteger requests = new AtomicInteger();
  private final Fakes.Output output = new Fakes.Output();

  @BeforeEach
  void setUp() throws IOException {
    SomeText.files(directory, 4, WORDS_IN_FILE);
    plan = InputPlan.of(directory, Long.MAX_VALUE);
    control = new RunControl("TextReaderTest", plan);
    control.gate().raise(Long.MAX_VALUE);
  }

  @AfterEach
  void tearDown() {
    control.close();
  }

  @Test
  void readsSplitsInAscendingOrderWithOneTimeForEachWord() throws IOException {
    TextReader reader = reader();
    reader.addSplits(List.of(split(2, 0), split(0, 0)));
    reader.notifyNoMoreSplits();

    readAll(reader);

    assertThat(output.times).hasSize(2 * WORDS_IN_FILE).isSorted().doesNotHaveDuplicates();
    assertThat(output.words.getFirst())
        .isEqualTo(new Word(SomeText.words(0, 1), "even/file0.txt", 0));
    assertThat(control.progress().words()).isEqualTo(2 * WORDS_IN_FILE);
  }

  @Test
  void aSnapshotAfterAnyWordContinuesWithTheNext() throws IOException {
    TextReader whole = reader();
    whole.addSplits(List.of(split(0, 0), split(1, 0)));
    whole.notifyNoMoreSplits();
    readAll(whole);
    List<Word> all = List.copyOf(output.words);

    for (int before = 0; before <= all.size(); before++) {
      output.words.clear();
      TextReader first = reader();
      first.addSplits(List.of(split(0, 0), split(1, 0)));
      read(first, before);
      List<TextSplit> snapshot = first.snapshotState(1);
      first.close();

      TextReader second = reader();
      second.addSplits(snapshot);
      assertThat(control.progress().words()).isEqualTo(before);
      second.notifyNoMoreSplits();
      readAll(second);

      assertThat(output.words).isEqualTo(all);
    }
  }

  @Test
  void asksForOneMoreSplitWhenItBeginsItsLast() throws IOException {
    TextReader reader = reader();
    reader.start();
    assertThat(requests).hasValue(1);
    CompletableFuture<Void> available = reader.isAvailable();
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    assertThat(available).isNotDone();

    reader.addSplits(List.of(split(0, 0)));
    assertThat(available).isCompleted();
    read(reader, 1);
    assertThat(requests).hasValue(2);

    read(reader, WORDS_IN_FILE - 1);
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    assertThat(requests).hasValue(2);
  }

  @Test
  void doesNotReadPastTheGate() throws IOException {
    try (RunControl gated = new RunControl("gated", plan)) {
      TextReader reader = new TextReader(context(), TextInput.of(directory), gated);
      reader.addSplits(List.of(split(0, 0), split(1, 0), split(2, 0)));
      long half = plan.words() / 2;
      read(reader, (int) half);

      assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
      CompletableFuture<Void> available = reader.isAvailable();
      assertThat(available).isNotDone();
      gated.gate().raise(half + 1);
      assertThat(available).isCompleted();
      read(reader, 1);
      assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    }
  }

  private TextSplit split(int ordinal, int read) {
    TextRange range = plan.ranges().get(ordinal);
    return new TextSplit(range, read);
  }

  private TextReader reader() throws IOException {
    return new TextReader(context(), TextInput.of(directory), control);
  }

  private SourceReaderContext context() {
    return Fakes.context(
        SourceReaderContext.class, "sendSplitRequest", arguments -> requests.incrementAndGet());
  }

  private void read(TextReader reader, int words) throws IOException {
    for (int i = 0; i < words; i++) {
      assertThat(reader.pollNext(output)).isEqualTo(InputStatus.MORE_AVAILABLE);
    }
  }

  private void readAll(TextReader reader) throws IOException {
    InputStatus status = InputStatus.MORE_AVAILABLE;
    while (status == InputStatus.MORE_AVAILABLE) {
      status = reader.pollNext(output);
    }
    assertThat(status).isEqualTo(InputStatus.END_OF_INPUT);
    reader.close();
  }
}

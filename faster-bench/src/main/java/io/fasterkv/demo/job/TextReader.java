package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Word;
import io.fasterkv.demo.text.RangeWords;
import io.fasterkv.demo.text.TextInput;
import io.fasterkv.demo.text.TextRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.jspecify.annotations.Nullable;

/**
 * Reads splits word by word, the earliest first, and requests another one while it reads its last.
 *
 * <p>All methods are called by the task's thread.
 */
final class TextReader implements SourceReader<Word, TextSplit> {
  private final SourceReaderContext context;
  private final TextInput texts;
  private final RunControl control;
  private final PriorityQueue<TextSplit> waiting =
      new PriorityQueue<>(Comparator.comparingInt(split -> split.range().ordinal()));
  private CompletableFuture<Void> splitArrived = new CompletableFuture<>();
  private boolean noMoreSplits;
  private @Nullable TextRange range;
  private @Nullable RangeWords words;

  TextReader(SourceReaderContext context, TextInput texts, RunControl control) {
    this.context = context;
    this.texts = texts;
    this.control = control;
  }

  @Override
  public void start() {
    if (waiting.isEmpty()) {
      context.sendSplitRequest();
    }
  }

  @Override
  public InputStatus pollNext(ReaderOutput<Word> output) throws IOException {
    RangeWords current = words == null ? openNext() : words;
    TextRange of = range;
    if (current == null || of == null) {
      return noMoreSplits ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
    }
    if (!control.gate().admits(control.progress().words())) {
      return InputStatus.NOTHING_AVAILABLE;
    }
    int inRange = current.read();
    Word word = new Word(current.next(), of.file(), of.firstWord() + inRange);
    output.collect(word, of.wordsBefore() + inRange);
    control.progress().advance(of.ordinal());
    if (!current.hasNext()) {
      closeCurrent();
    }
    return InputStatus.MORE_AVAILABLE;
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    if (words == null && waiting.isEmpty() && !noMoreSplits) {
      return splitArrived;
    }
    return control.gate().whenAdmits(control.progress().words());
  }

  @Override
  public List<TextSplit> snapshotState(long checkpointId) {
    List<TextSplit> splits = new ArrayList<>(waiting);
    if (range != null && words != null) {
      splits.add(new TextSplit(range, words.read()));
    }
    return splits;
  }

  @Override
  public void addSplits(List<TextSplit> splits) {
    splits.forEach(control.progress()::set);
    waiting.addAll(splits);
    wake();
  }

  @Override
  public void notifyNoMoreSplits() {
    noMoreSplits = true;
    wake();
  }

  @Override
  public void close() throws IOException {
    closeCurrent();
    texts.close();
  }

  private void wake() {
    splitArrived.complete(null);
    splitArrived = new CompletableFuture<>();
  }

  private @Nullable RangeWords openNext() throws IOException {
    TextSplit split = waiting.poll();
    if (split == null) {
      return null;
    }
    if (waiting.isEmpty() && !noMoreSplits) {
      context.sendSplitRequest();
    }
    RangeWords opened = new RangeWords(texts, split.range(), split.read());
    range = split.range();
    words = opened;
    return opened;
  }

  private void closeCurrent() throws IOException {
    if (words != null) {
      words.close();
    }
    words = null;
    range = null;
  }
}

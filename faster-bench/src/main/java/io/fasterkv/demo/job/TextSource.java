package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Word;
import io.fasterkv.demo.text.InputPlan;
import io.fasterkv.demo.text.TextInput;
import io.fasterkv.demo.text.TextRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** The words of an {@link InputPlan}: bounded, resumable at any word, at any parallelism. */
public final class TextSource implements Source<Word, TextSplit, PlanPosition> {
  private static final long serialVersionUID = 1;

  private final String input;
  private final ArrayList<TextRange> ranges;
  private final String runId;

  /**
   * @param runId names the {@link RunControl} of this run
   */
  public TextSource(InputPlan plan, String runId) {
    this.input = plan.input().toString();
    this.ranges = new ArrayList<>(plan.ranges());
    this.runId = runId;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<Word, TextSplit> createReader(SourceReaderContext context)
      throws IOException {
    return new TextReader(context, TextInput.of(Path.of(input)), RunControl.of(runId));
  }

  @Override
  public SplitEnumerator<TextSplit, PlanPosition> createEnumerator(
      SplitEnumeratorContext<TextSplit> context) {
    return restoreEnumerator(context, new PlanPosition(0, List.of()));
  }

  @Override
  public SplitEnumerator<TextSplit, PlanPosition> restoreEnumerator(
      SplitEnumeratorContext<TextSplit> context, PlanPosition position) {
    return new TextEnumerator(context, ranges, RunControl.of(runId), position);
  }

  @Override
  public SimpleVersionedSerializer<TextSplit> getSplitSerializer() {
    return new TextSplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<PlanPosition> getEnumeratorCheckpointSerializer() {
    return new PlanPosition.Serializer();
  }
}

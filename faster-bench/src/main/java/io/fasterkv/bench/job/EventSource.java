package io.fasterkv.bench.job;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.data.RowData;

/** The events of a run: bounded, with a split for each reader, resumable at any event. */
final class EventSource implements Source<RowData, EventSplit, List<EventSplit>> {
  private static final long serialVersionUID = 1;

  private final TaskMeter.Handle run;

  EventSource(TaskMeter.Handle run) {
    this.run = run;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<RowData, EventSplit> createReader(SourceReaderContext context)
      throws IOException {
    return new EventReader(context::sendSplitRequest, run.open());
  }

  @Override
  public SplitEnumerator<EventSplit, List<EventSplit>> createEnumerator(
      SplitEnumeratorContext<EventSplit> context) {
    JobPlan plan = run.plan();
    List<EventSplit> all = new ArrayList<>();
    for (int reader = 0; reader < plan.parallelism(); reader++) {
      all.add(new EventSplit(plan.share(reader), 0));
    }
    return restoreEnumerator(context, all);
  }

  @Override
  public SplitEnumerator<EventSplit, List<EventSplit>> restoreEnumerator(
      SplitEnumeratorContext<EventSplit> context, List<EventSplit> unassigned) {
    return new EventEnumerator(context, unassigned);
  }

  @Override
  public SimpleVersionedSerializer<EventSplit> getSplitSerializer() {
    return new EventSplit.Serializer();
  }

  @Override
  public SimpleVersionedSerializer<List<EventSplit>> getEnumeratorCheckpointSerializer() {
    return new EventEnumerator.Serializer();
  }
}

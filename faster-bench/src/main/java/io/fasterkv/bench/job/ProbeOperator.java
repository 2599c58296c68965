package io.fasterkv.bench.job;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/**
 * Follows the source. It throws where the plan says so, and where events are due at a time, it
 * sends latency markers after some of them. A marker has the time at which its event was due, not
 * the one at which it was sent, so a wait of the source is part of the latency. It follows its
 * event through all operators; when it arrives at the sink, they have processed what was before it.
 */
final class ProbeOperator extends AbstractStreamOperator<RowData>
    implements OneInputStreamOperator<RowData, RowData> {
  private static final long serialVersionUID = 1;
  private static final int EVENTS_PER_MARKER = 20;

  private final TaskMeter.Handle run;
  private transient @Nullable TaskMeter meter;
  private transient boolean isPaced;
  private transient int sinceMarker;

  ProbeOperator(TaskMeter.Handle run) {
    this.run = run;
  }

  @Override
  public void open() throws Exception {
    super.open();
    isPaced = run.plan().pace().eventsPerSecond() > 0;
    meter = run.open();
  }

  @Override
  public void processElement(StreamRecord<RowData> element) {
    TaskMeter of = meter;
    if (of == null) {
      throw new IllegalStateException("the operator is not open");
    }
    long millis = element.getTimestamp();
    of.failIfPlanned(millis);
    output.collect(element);
    if (isPaced && ++sinceMarker == EVENTS_PER_MARKER) {
      sinceMarker = 0;
      mark(of, millis);
    }
  }

  private void mark(TaskMeter of, long millis) {
    if (of.isSteady(millis)) {
      int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      output.emitLatencyMarker(new LatencyMarker(of.dueNanosAt(millis), getOperatorID(), subtask));
    }
  }
}

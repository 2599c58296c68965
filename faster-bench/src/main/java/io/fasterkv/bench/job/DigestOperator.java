package io.fasterkv.bench.job;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Consumes the rows of a result and keeps their {@link Digest}, exactly once: it is part of
 * checkpoints. Emits nothing.
 */
final class DigestOperator<T> extends AbstractStreamOperator<Long>
    implements OneInputStreamOperator<T, Long>, BoundedOneInput {
  private static final long serialVersionUID = 1;

  private final TaskMeter.Handle run;
  private final ResultHash<T> hash;
  private transient @Nullable TaskMeter meter;
  private transient @Nullable ListState<long[]> state;
  private transient long added;
  private transient long removed;
  private transient long sum;

  DigestOperator(TaskMeter.Handle run, ResultHash<T> hash) {
    this.run = run;
    this.hash = hash;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    ListState<long[]> kept =
        context
            .getOperatorStateStore()
            .getListState(
                new ListStateDescriptor<>("digest", LongPrimitiveArraySerializer.INSTANCE));
    for (long[] part : kept.get()) {
      added += part[0];
      removed += part[1];
      sum += part[2];
    }
    state = kept;
  }

  @Override
  public void open() throws Exception {
    super.open();
    meter = run.open();
  }

  @Override
  public void processElement(StreamRecord<T> element) {
    T row = element.getValue();
    long ofRow = hash.hash(row);
    if (hash.isAdded(row)) {
      added++;
      sum += ofRow;
    } else {
      removed++;
      sum -= ofRow;
    }
  }

  @Override
  public void processLatencyMarker(LatencyMarker marker) {
    opened(meter).processed(marker.getMarkedTime());
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    ListState<long[]> kept = opened(state);
    kept.clear();
    kept.add(new long[] {added, removed, sum});
  }

  @Override
  public void endInput() {
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    opened(meter).ended(subtask, new Digest(added, removed, sum));
  }

  private static <T> T opened(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("the operator is not open");
    }
    return part;
  }
}

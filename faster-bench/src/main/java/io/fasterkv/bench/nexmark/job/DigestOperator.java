package io.fasterkv.bench.nexmark.job;

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
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Consumes the rows of a query and keeps their {@link Digest}, exactly once: it is part of
 * checkpoints. Emits nothing.
 */
final class DigestOperator extends AbstractStreamOperator<Long>
    implements OneInputStreamOperator<RowData, Long>, BoundedOneInput {
  private static final long serialVersionUID = 1;

  private final String run;
  private final RowType type;
  private transient @Nullable JobMeter meter;
  private transient @Nullable RowHash hash;
  private transient @Nullable ListState<long[]> state;
  private transient long added;
  private transient long removed;
  private transient long sum;

  DigestOperator(String run, RowType type) {
    this.run = run;
    this.type = type;
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
    meter = JobMeter.of(run);
    hash = new RowHash(type);
  }

  @Override
  public void processElement(StreamRecord<RowData> element) {
    RowData row = element.getValue();
    RowKind kind = row.getRowKind();
    long ofRow = opened(hash).hash(row);
    if (kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER) {
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
    JobMeter of = opened(meter);
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    boolean isWrong = of.plan().isWrong() && subtask == 0;
    of.ended(subtask, new Digest(added, removed, isWrong ? sum + 1 : sum));
  }

  private static <T> T opened(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("the operator is not open");
    }
    return part;
  }
}

package io.fasterkv.demo.job;

import io.fasterkv.demo.text.TextRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the splits, always the earliest that is left.
 *
 * <p>So each reader gets splits in ascending order and its times never decrease, not even after a
 * failure: splits that are returned to the enumerator were assigned after the checkpoint, and all
 * that a reader restores from the checkpoint is earlier.
 */
final class TextEnumerator implements SplitEnumerator<TextSplit, PlanPosition> {
  private final SplitEnumeratorContext<TextSplit> context;
  private final List<TextRange> plan;
  private final RunControl control;
  private final PriorityQueue<TextSplit> returned =
      new PriorityQueue<>(Comparator.comparingInt(split -> split.range().ordinal()));
  private int next;

  TextEnumerator(
      SplitEnumeratorContext<TextSplit> context,
      List<TextRange> plan,
      RunControl control,
      PlanPosition position) {
    this.context = context;
    this.plan = plan;
    this.control = control;
    this.next = position.next();
    this.returned.addAll(position.returned());
  }

  @Override
  public void start() {}

  @Override
  public void handleSplitRequest(int subtask, @Nullable String host) {
    TextSplit split = returned.poll();
    if (split == null && next < plan.size()) {
      split = new TextSplit(plan.get(next++), 0);
    }
    if (split == null) {
      context.signalNoMoreSplits(subtask);
    } else {
      context.assignSplit(split, subtask);
    }
  }

  @Override
  public void addSplitsBack(List<TextSplit> splits, int subtask) {
    splits.forEach(control.progress()::set);
    returned.addAll(splits);
  }

  @Override
  public void addReader(int subtask) {}

  @Override
  public PlanPosition snapshotState(long checkpointId) {
    return new PlanPosition(next, new ArrayList<>(returned));
  }

  @Override
  public void close() {}
}

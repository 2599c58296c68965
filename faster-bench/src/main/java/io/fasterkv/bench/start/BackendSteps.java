package io.fasterkv.bench.start;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.flink.CheckpointChain;
import io.fasterkv.bench.flink.OpenBackend;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;

/** A state backend of Flink, as a task has it, without a job. */
final class BackendSteps implements Steps {
  private final StartPlan plan;
  private final Backend kind;
  private final Path directory;
  private final List<OpenBackend<Long>> opened = new ArrayList<>();
  private final List<ValueState<Long>> counts = new ArrayList<>();
  private final List<KeyedStateHandle> checkpoints = new ArrayList<>();

  BackendSteps(StartPlan plan, Backend kind, Path directory) {
    this.plan = plan;
    this.kind = kind;
    this.directory = directory;
  }

  @Override
  public List<Step> all() {
    return List.of(
        new Step(StartPlan.OPEN, () -> open(List.of())),
        new Step(StartPlan.FIRST_RMWS, this::rmw),
        new Step(StartPlan.FIRST_READS, () -> read(0, 1)),
        new Step(StartPlan.MORE_RMWS, this::rmw),
        new Step(StartPlan.MORE_READS, () -> read(0, 2)),
        new Step(StartPlan.OPEN_MORE, this::openOthers),
        new Step(StartPlan.CHECKPOINT, this::checkpoint),
        new Step(StartPlan.RESTORE, () -> open(checkpoints)),
        new Step(StartPlan.RESTORED_READS, () -> read(opened.size() - 1, 2)));
  }

  private void open(List<KeyedStateHandle> handles) throws Exception {
    OpenBackend<Long> backend =
        OpenBackend.open(
            kind,
            LongSerializer.INSTANCE,
            OpenBackend.Slot.of(plan.memoryBytes(), directory.resolve("local-" + opened.size())),
            System::currentTimeMillis,
            OpenBackend.wholeRange(),
            handles);
    opened.add(backend);
    counts.add(backend.state(new ValueStateDescriptor<>("counts", LongSerializer.INSTANCE)));
  }

  private void openOthers() throws Exception {
    for (int i = 0; i < plan.stores(); i++) {
      open(List.of());
    }
  }

  private void checkpoint() throws Exception {
    CheckpointChain chain =
        new CheckpointChain(opened.getFirst().backend(), directory.resolve("checkpoints"));
    checkpoints.add(chain.next(Thread::yield).handle());
  }

  private void rmw() throws Exception {
    for (long key = 0; key < plan.calls(); key++) {
      opened.getFirst().backend().setCurrentKey(key);
      Long count = counts.getFirst().value();
      counts.getFirst().update(count == null ? 1 : count + 1);
    }
  }

  private void read(int backend, int passes) throws Exception {
    long sum = 0;
    for (long key = 0; key < plan.calls(); key++) {
      opened.get(backend).backend().setCurrentKey(key);
      Long count = counts.get(backend).value();
      sum += count == null ? 0 : count;
    }
    Steps.check(sum, plan.calls(), passes);
  }

  @Override
  public void close() throws Exception {
    for (OpenBackend<Long> backend : opened) {
      backend.close();
    }
  }
}

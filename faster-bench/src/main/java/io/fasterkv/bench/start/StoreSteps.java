package io.fasterkv.bench.start;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The store, without Flink. */
final class StoreSteps implements Steps {
  private final StartPlan plan;
  private final Path directory;
  private final List<FasterStore> others = new ArrayList<>();
  private @Nullable Opened opened;

  /** The first store. */
  private record Opened(FasterStore store, LongSession<Void> session) {
    void close() {
      session.close();
      store.close();
    }
  }

  StoreSteps(StartPlan plan, Path directory) {
    this.plan = plan;
    this.directory = directory;
  }

  @Override
  public List<Step> all() {
    return List.of(
        new Step(StartPlan.OPEN, () -> use(FasterStore.open(config("store")))),
        new Step(StartPlan.FIRST_RMWS, this::rmw),
        new Step(StartPlan.FIRST_READS, () -> read(1)),
        new Step(StartPlan.MORE_RMWS, this::rmw),
        new Step(StartPlan.MORE_READS, () -> read(2)),
        new Step(StartPlan.OPEN_MORE, this::openOthers),
        new Step(StartPlan.CHECKPOINT, () -> opened().store.checkpoints().take()),
        new Step(StartPlan.RESTORE, this::restore),
        new Step(StartPlan.RESTORED_READS, () -> read(2)));
  }

  private StoreConfig config(String name) {
    return StoreConfig.builder(directory.resolve(name))
        .memoryBytes(plan.memoryBytes())
        .recordKind(StoreConfig.RecordKind.LONGS)
        .build();
  }

  private void use(FasterStore store) {
    opened = new Opened(store, store.newSession().longs(LongFunctions.sum()));
  }

  private Opened opened() {
    if (opened == null) {
      throw new IllegalStateException("the store is not open");
    }
    return opened;
  }

  private void openOthers() {
    for (int i = 0; i < plan.stores(); i++) {
      others.add(FasterStore.open(config("other-" + i)));
    }
  }

  private void restore() {
    opened().close();
    use(FasterStore.recover(config("store")));
  }

  private void rmw() {
    LongSession<Void> session = opened().session;
    for (long key = 0; key < plan.calls(); key++) {
      session.rmw(key, 1, null);
    }
  }

  private void read(int passes) {
    LongSession<Void> session = opened().session;
    long sum = 0;
    for (long key = 0; key < plan.calls(); key++) {
      if (session.read(key, null) == Status.FOUND) {
        sum += session.value();
      }
    }
    Steps.check(sum, plan.calls(), passes);
  }

  @Override
  public void close() {
    opened().close();
    others.forEach(FasterStore::close);
  }
}

package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.memory.NativeAccess;
import io.fasterkv.flink.records.base.RecordCopies;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.write.StateRecords;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A store with pages of 4 KiB and little memory. Unless the state is small, most of its records are
 * on disk.
 */
public final class TestRecords implements AutoCloseable {
  public final FasterStore store;
  public final StateRecords records;
  public final ValueIncarnations incarnations = new ValueIncarnations(state -> "state " + state);
  private final CompositeKey key = new CompositeKey();

  public TestRecords(Path directory) {
    this(directory, 192 << 10);
  }

  /** A store with this much memory. */
  public TestRecords(Path directory, int memoryBytes) {
    this(directory, memoryBytes, 4 << 10);
  }

  /** A store with this much memory, in pages of this size. */
  public TestRecords(Path directory, long memoryBytes, int pageBytes) {
    this(directory, memoryBytes, pageBytes, DeadParts::new, true);
  }

  /** A store whose compaction follows this rule, in the background or only on request. */
  public TestRecords(
      Path directory,
      long memoryBytes,
      int pageBytes,
      Function<ValueIncarnations, KeepRule> rule,
      boolean inBackground) {
    this(directory, memoryBytes, pageBytes, rule, inBackground, TestRecords::session);
  }

  /** A store with such a rule, whose records the test reads and writes through its own session. */
  public TestRecords(
      Path directory,
      long memoryBytes,
      int pageBytes,
      Function<ValueIncarnations, KeepRule> rule,
      boolean inBackground,
      BiFunction<FasterStore, ValueIncarnations, StateRecords> session) {
    NativeAccess.request();
    store =
        FasterStore.open(
            StoreConfig.builder(directory.resolve(UUID.randomUUID().toString()))
                .memoryBytes(memoryBytes)
                .pageBytes(pageBytes)
                .maxSessions(2)
                .deleteOnClose(true)
                .backgroundCompaction(inBackground)
                .keepRule(rule.apply(incarnations))
                .build());
    incarnations.complete();
    records = session.apply(store, incarnations);
  }

  private static StateRecords session(FasterStore store, ValueIncarnations incarnations) {
    return new StateRecords(store, incarnations, state -> null);
  }

  /**
   * A store whose operations find their records on disk: all of the first ones, and most later
   * ones.
   */
  public static TestRecords evicting(Path directory) {
    return new TestRecords(
        directory,
        192 << 10,
        4 << 10,
        DeadParts::new,
        true,
        (store, incarnations) -> EvictingRecords.open(store, incarnations, state -> null, 4));
  }

  /** The record keys of one of several keys. */
  public CompositeKey key(int number) {
    byte[] bytes = {(byte) number, 1, 2, 3};
    key.setKey(number & 0x7F, bytes, 0, bytes.length);
    return key.select(1, new byte[] {0}, 0, 1);
  }

  /** Deletes one record of a key. */
  public void delete(int number, int sub) {
    try (RecordCopies copies = new RecordCopies(store)) {
      copies.delete(key(number).record(sub));
    }
  }

  @Override
  public void close() {
    records.close();
    store.close();
  }
}

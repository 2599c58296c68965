package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.api.KeepRule;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.memory.NativeAccess;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A store with pages of 4 KiB and little memory, so that most of it lies on disk unless it is
 * small.
 */
public final class TestRecords implements AutoCloseable {
  public final FasterStore store;
  public final StateRecords records;
  final Identities identities = new Identities(state -> "state " + state);
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

  /** A store whose compaction goes by this rule, in the background or by hand. */
  TestRecords(
      Path directory,
      long memoryBytes,
      int pageBytes,
      Function<Identities, KeepRule> rule,
      boolean inBackground) {
    this(directory, memoryBytes, pageBytes, rule, inBackground, TestRecords::session);
  }

  /** Such a store, with its records read and written by a session of the test's. */
  TestRecords(
      Path directory,
      long memoryBytes,
      int pageBytes,
      Function<Identities, KeepRule> rule,
      boolean inBackground,
      BiFunction<FasterStore, Identities, StateRecords> session) {
    NativeAccess.ask();
    store =
        FasterStore.open(
            StoreConfig.builder(directory.resolve(UUID.randomUUID().toString()))
                .memoryBytes(memoryBytes)
                .pageBytes(pageBytes)
                .maxSessions(2)
                .deleteOnClose(true)
                .backgroundCompaction(inBackground)
                .keepRule(rule.apply(identities))
                .build());
    identities.complete();
    records = session.apply(store, identities);
  }

  private static StateRecords session(FasterStore store, Identities identities) {
    return new StateRecords(store, identities, state -> null);
  }

  /**
   * A store whose operations find on disk what they ask for; most of them, when there were many.
   */
  public static TestRecords evicting(Path directory) {
    return new TestRecords(
        directory,
        192 << 10,
        4 << 10,
        DeadParts::new,
        true,
        (store, identities) -> EvictingRecords.open(store, identities, state -> null, 4));
  }

  /** Record keys of one of several keys. */
  CompositeKey key(int number) {
    byte[] bytes = {(byte) number, 1, 2, 3};
    key.setKey(number & 0x7F, bytes, 0, bytes.length);
    return key.select(1, new byte[] {0}, 0, 1);
  }

  /** Deletes one record of a key. */
  void delete(int number, int sub) {
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

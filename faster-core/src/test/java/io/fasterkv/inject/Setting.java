package io.fasterkv.inject;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.cpr.StampedSession;
import io.fasterkv.cpr.SumFunctions;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import java.nio.file.Path;
import java.util.concurrent.Executor;

/**
 * One kind of store: pages, index and memory are as small as possible.
 *
 * @param isLazyRestore whether the store starts from another store's log, see {@link LazyRestore}
 * @param maxBytes the length of the longest value
 */
record Setting(
    RecordKind records,
    boolean isMerging,
    boolean hasRule,
    boolean inBackground,
    boolean isLazyRestore,
    int maxBytes) {
  private static final int PAGE_BYTES = 4096;

  static final int COUNT = 6;

  static Setting of(int number) {
    return switch (number) {
      case 0 -> new Setting(RecordKind.LONGS, false, false, false, false, 64);
      case 1 -> new Setting(RecordKind.SPANS, false, false, true, false, 1200);
      case 2 -> new Setting(RecordKind.SPANS, true, false, false, false, 64);
      case 3 -> new Setting(RecordKind.SPANS, false, true, true, false, 12_000);
      case 4 -> new Setting(RecordKind.LONGS, true, false, true, false, 64);
      case 5 -> new Setting(RecordKind.SPANS, false, false, false, true, 200);
      default -> throw new IllegalArgumentException("no such setting: number=" + number);
    };
  }

  /** The configuration for checking a store on a single thread. */
  StoreConfig quiet(Path directory) {
    return new Setting(records, isMerging, hasRule, false, isLazyRestore, maxBytes)
        .config(directory);
  }

  StoreConfig config(Path directory) {
    StoreConfigBuilder config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(4 * PAGE_BYTES)
            .indexBytes(isLazyRestore ? 16 << 10 : 256)
            .segmentBytes(8 * PAGE_BYTES)
            .scratchBytes(2 << 20)
            .recordKind(records)
            .backgroundCompaction(inBackground)
            .versionShift(isMerging ? VersionShift.COARSE : VersionShift.FINE);
    if (hasRule) {
      config.keepRule(new KeepsAll());
    }
    if (isMerging && records == RecordKind.SPANS) {
      config.merge(new SumFunctions(maxBytes));
    } else if (isMerging) {
      config.merge(StampedSession.Longs.functions());
    }
    return config.build();
  }

  LogDevice device(StoreConfig config) {
    return new FileDevice(config.directory(), config.segmentBytes());
  }

  /** A session with a name; it returns stages if there is an executor. */
  Hand session(FasterStore store, String name, SessionMode mode, Executor executor) {
    SessionIdentity identity = SessionIdentity.start(name);
    SumFunctions sums = new SumFunctions(maxBytes);
    if (executor != null) {
      return records == RecordKind.LONGS
          ? new Hand.AsyncLongs(
              store
                  .newSession()
                  .identity(identity)
                  .asyncLongs(StampedSession.Longs.functions(), executor))
          : new Hand.AsyncSpans(
              store.newSession().identity(identity).asyncSpans(sums, executor), sums);
    }
    return records == RecordKind.LONGS
        ? new Hand.Longs(
            store
                .newSession()
                .identity(identity)
                .mode(mode)
                .longs(StampedSession.Longs.functions()))
        : new Hand.Spans(store.newSession().identity(identity).mode(mode).spans(sums), sums);
  }

  /** A session without a name that waits for disk reads. */
  Hand reader(FasterStore store) {
    SumFunctions sums = new SumFunctions(maxBytes);
    return records == RecordKind.LONGS
        ? new Hand.Longs(store.newSession().longs(StampedSession.Longs.functions()))
        : new Hand.Spans(store.newSession().spans(sums), sums);
  }

  /** Keeps every record, after looking up its key. */
  private static final class KeepsAll implements KeepRule {
    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      return store.find(key) != null || key.length() > 0;
    }
  }
}

package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the update table (SIGMOD'18, table 2): status and effect of each operation on a record of
 * each region, for both kinds of record and all allocators.
 */
class UpdateTableTest {
  private static final int PAGE_BYTES = 4096;
  private static final long KEY = 1;
  private static final long OLD = 10;
  private static final long NEW = 3;
  private static final RegionHits NOWHERE = new RegionHits(0, 0, 0);
  private static final RegionHits MUTABLE = new RegionHits(1, 0, 0);
  private static final RegionHits READ_ONLY = new RegionHits(0, 1, 0);
  private static final RegionHits ON_DISK = new RegionHits(0, 0, 1);

  @TempDir Path directory;

  enum Allocator {
    HYBRID,
    APPEND_ONLY,
    IN_MEMORY
  }

  enum Region {
    MUTABLE,
    FUZZY,
    READ_ONLY,
    DISK,
    NONE,
    TOMBSTONE
  }

  enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  record Case(RecordKind records, Allocator allocator, Region region, Kind kind) {
    boolean exists() {
      return switch (allocator) {
        case HYBRID -> true;
        case APPEND_ONLY -> region != Region.FUZZY;
        // Records that a cut or compaction has frozen are read-only until they are moved.
        case IN_MEMORY -> region != Region.DISK;
      };
    }

    boolean isLive() {
      return region != Region.NONE && region != Region.TOMBSTONE;
    }

    Status expected() {
      return switch (kind) {
        case READ, DELETE -> isLive() ? Status.FOUND : Status.NOT_FOUND;
        case RMW -> isLive() ? updated() : Status.CREATED;
        // A blind update searches the log only where it could update in place: nowhere in an
        // append-only log.
        case UPSERT ->
            region == Region.NONE
                    || (region == Region.TOMBSTONE && allocator != Allocator.APPEND_ONLY)
                ? Status.CREATED
                : updated();
      };
    }

    /**
     * The region in which the operation finds the record; a blind update and a delete do not read
     * the disk.
     */
    RegionHits hits() {
      boolean looks = kind == Kind.READ || kind == Kind.RMW;
      return switch (region) {
        case NONE, TOMBSTONE -> NOWHERE;
        case DISK -> looks ? ON_DISK : NOWHERE;
        case READ_ONLY -> kind == Kind.UPSERT ? NOWHERE : READ_ONLY;
        // An operation that waits until all threads have seen the read-only address finds the
        // record read-only.
        case FUZZY -> kind == Kind.READ ? MUTABLE : kind == Kind.UPSERT ? NOWHERE : READ_ONLY;
        case MUTABLE ->
            allocator != Allocator.APPEND_ONLY
                ? MUTABLE
                : kind == Kind.UPSERT ? NOWHERE : READ_ONLY;
      };
    }

    private Status updated() {
      return region == Region.MUTABLE && allocator != Allocator.APPEND_ONLY
          ? Status.UPDATED_IN_PLACE
          : Status.COPIED;
    }

    /** The result of a later read. */
    OptionalLong effect() {
      return switch (kind) {
        case READ -> isLive() ? OptionalLong.of(OLD) : OptionalLong.empty();
        case UPSERT -> OptionalLong.of(NEW);
        case RMW -> OptionalLong.of(isLive() ? OLD + NEW : NEW);
        case DELETE -> OptionalLong.empty();
      };
    }
  }

  static Stream<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (RecordKind records : RecordKind.values()) {
      for (Allocator allocator : Allocator.values()) {
        for (Region region : Region.values()) {
          Arrays.stream(Kind.values())
              .map(kind -> new Case(records, allocator, region, kind))
              .filter(Case::exists)
              .forEach(cases::add);
        }
      }
    }
    return cases.stream();
  }

  /** A session on numbers, for any kind of record. */
  private interface Numbers extends AutoCloseable {
    Status run(Kind kind, long key, long input);

    /** Waits for a pending operation; returns its status. */
    Status completed();

    long output();

    @Override
    void close();
  }

  private static Numbers numbers(FasterStore store, SessionMode mode) {
    return store.config().recordKind() == RecordKind.LONGS
        ? new LongNumbers(store, mode)
        : new SpanNumbers(store, mode);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void statusAndEffectAreThoseOfTheTable(Case row) {
    try (FasterStore store = FasterStore.open(config(row));
        Numbers session = numbers(store, SessionMode.BLOCKING)) {
      HybridLog log = Insides.engine(store).log();
      prepare(store, session, row);
      long tail = log.tailAddress();
      RegionHits before = store.statistics().regionHits();
      Status status =
          row.region == Region.FUZZY ? inFuzzyRegion(store, row) : session.run(row.kind, KEY, NEW);
      assertThat(status).isEqualTo(row.expected());
      assertThat(since(before, store.statistics().regionHits())).isEqualTo(row.hits());
      boolean isQuiet = row.region != Region.FUZZY;
      if (isQuiet && (status == Status.UPDATED_IN_PLACE || row.kind == Kind.READ)) {
        assertThat(log.tailAddress()).as("nothing is appended").isEqualTo(tail);
      }
      assertThat(read(session)).isEqualTo(row.effect());
    }
  }

  static Stream<Case> casesOnDisk() {
    return cases().filter(row -> row.region == Region.DISK);
  }

  @ParameterizedTest
  @MethodSource("casesOnDisk")
  void readsAndUpdatesOfRecordsOnDiskArePending(Case row) {
    try (FasterStore store = FasterStore.open(config(row));
        Numbers session = numbers(store, SessionMode.PENDING)) {
      prepare(store, session, row);
      RegionHits before = store.statistics().regionHits();
      Status status = session.run(row.kind, KEY, NEW);
      if (row.kind == Kind.READ || row.kind == Kind.RMW) {
        assertThat(status).isEqualTo(Status.PENDING);
        status = session.completed();
      }
      assertThat(status).isEqualTo(row.expected());
      assertThat(since(before, store.statistics().regionHits())).isEqualTo(row.hits());
      try (Numbers reader = numbers(store, SessionMode.BLOCKING)) {
        assertThat(read(reader)).isEqualTo(row.effect());
      }
    }
  }

  private StoreConfig config(Case row) {
    StoreConfigBuilder builder =
        row.allocator == Allocator.IN_MEMORY
            ? StoreConfig.inMemory()
            : StoreConfig.builder(directory)
                .mutableFraction(row.allocator == Allocator.HYBRID ? 0.5 : 0);
    return builder
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8L * PAGE_BYTES)
        .indexBytes(4096)
        .recordKind(row.records)
        .build();
  }

  private static void prepare(FasterStore store, Numbers session, Case row) {
    HybridLog log = Insides.engine(store).log();
    if (row.region != Region.NONE) {
      assertThat(session.run(Kind.UPSERT, KEY, OLD)).isEqualTo(Status.CREATED);
    }
    switch (row.region) {
      case MUTABLE, NONE, FUZZY -> {}
      case READ_ONLY -> {
        store.log().cut().close();
        log.cuts().awaitImmutable(log.tailAddress() & -64);
        assertThat(log.headAddress()).isLessThanOrEqualTo(64);
      }
      case DISK -> {
        for (long key = KEY + 1; log.headAddress() <= PAGE_BYTES; key++) {
          session.run(Kind.UPSERT, key, 0);
        }
      }
      case TOMBSTONE -> assertThat(session.run(Kind.DELETE, KEY, 0)).isEqualTo(Status.FOUND);
    }
  }

  /**
   * The read-only address has passed the record, and a user that has not seen the address is still
   * protected.
   */
  private static Status inFuzzyRegion(FasterStore store, Case row) {
    HybridLog log = Insides.engine(store).log();
    try (EpochUser user = Insides.engine(store).epochs().register()) {
      user.protect();
      store.log().cut().close();
      assertThat(log.safeReadOnlyAddress()).isLessThan(log.regions().inPlaceFrom());
      AtomicReference<Status> status = new AtomicReference<>();
      Thread other =
          Pause.begin(() -> {
            try (Numbers session = numbers(store, SessionMode.BLOCKING)) {
              status.set(session.run(row.kind, KEY, NEW));
            }
          });
      if (row.kind == Kind.RMW || row.kind == Kind.DELETE) {
        Pause.awaitWaiting(other);
        assertThat(status).hasNullValue();
        user.unprotect();
        Pause.join(other);
      } else {
        Pause.join(other);
        assertThat(log.safeReadOnlyAddress()).isLessThan(log.regions().inPlaceFrom());
        user.unprotect();
      }
      return status.get();
    }
  }

  private static RegionHits since(RegionHits before, RegionHits now) {
    return new RegionHits(
        now.mutable() - before.mutable(),
        now.readOnly() - before.readOnly(),
        now.disk() - before.disk());
  }

  private static OptionalLong read(Numbers session) {
    Status status = session.run(Kind.READ, KEY, 0);
    if (status == Status.NOT_FOUND) {
      return OptionalLong.empty();
    }
    assertThat(status).isEqualTo(Status.FOUND);
    return OptionalLong.of(session.output());
  }

  private static final class LongNumbers implements Numbers, LongFunctions<Void> {
    private final LongSession<Void> session;
    private Status completed = Status.PENDING;

    LongNumbers(FasterStore store, SessionMode mode) {
      session = store.newSession().mode(mode).longs(this);
    }

    @Override
    public Status run(Kind kind, long key, long input) {
      return switch (kind) {
        case READ -> session.read(key, null);
        case UPSERT -> session.upsert(key, input, null);
        case RMW -> session.rmw(key, input, null);
        case DELETE -> session.delete(key, null);
      };
    }

    @Override
    public Status completed() {
      assertThat(session.completePending(true)).isZero();
      return completed;
    }

    @Override
    public long output() {
      return session.value();
    }

    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      return oldValue + input;
    }

    @Override
    public void completionCallback(Status status, long key, long value, Void context) {
      completed = status;
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** A number is stored as that many bytes: an RMW appends, and a record has no spare capacity. */
  private static final class SpanNumbers implements Numbers {
    private final Session<byte[], BytesFunctions.Result, Object> session;
    private final BytesFunctions.Result result = new BytesFunctions.Result();
    private Status completed = Status.PENDING;

    private final class Completing extends BytesFunctions {
      @Override
      public void completionCallback(Status status, byte[] input, Result output, Object context) {
        completed = status;
      }
    }

    SpanNumbers(FasterStore store, SessionMode mode) {
      session = store.newSession().mode(mode).spans(new Completing());
    }

    @Override
    public Status run(Kind kind, long key, long input) {
      ByteSpan name = ModelDriver.key((int) key);
      return switch (kind) {
        case READ -> session.read(name, null, result, null);
        case UPSERT -> session.upsert(name, ByteSpan.of(new byte[(int) input]), null);
        case RMW -> session.rmw(name, new byte[(int) input], null);
        case DELETE -> session.delete(name, null);
      };
    }

    @Override
    public Status completed() {
      assertThat(session.completePending(true)).isZero();
      return completed;
    }

    @Override
    public long output() {
      return result.value.length;
    }

    @Override
    public void close() {
      session.close();
    }
  }
}

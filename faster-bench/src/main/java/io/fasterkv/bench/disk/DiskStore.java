package io.fasterkv.bench.disk;

import io.fasterkv.FasterStore;
import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A store much larger than its memory, with a session for one thread. */
public final class DiskStore implements AutoCloseable {
  private static final int PAGE_BYTES = 1 << 20;
  private static final long SCRATCH_BYTES = 32L << 20;
  private static final long ROOM_BYTES = 8L << 20;
  private static final int SESSIONS = 64;

  /** While the index doubles, both the old and the new one exist. */
  private static final long GROWTH = 3;

  /** A bucket of 64 bytes, with seven entries, for four keys: no key shares another's entry. */
  private static final long INDEX_BYTES_PER_KEY = 16;

  private final FasterStore store;
  private final Reads reads = new Reads();
  private final int valueBytes;
  private final Session<Void, Reads, Void> session;
  private final ByteSpan key = ByteSpan.of(new byte[Long.BYTES]);
  private final Writer writer;

  /** The results of reads so far. */
  public static final class Reads {
    long fingerprints;
    long fromDisk;
    long missing;
    int underWay;
  }

  /** Opens an empty store whose log keeps {@code logMemoryBytes}, a power of two, in memory. */
  public DiskStore(Path directory, DiskPlan plan, long logMemoryBytes, double mutableFraction) {
    long index = plan.keys() * INDEX_BYTES_PER_KEY + PAGE_BYTES;
    store =
        FasterStore.open(
            StoreConfig.builder(directory)
                .recordKind(RecordKind.SPANS)
                .memoryBytes(GROWTH * index + logMemoryBytes + SCRATCH_BYTES + ROOM_BYTES)
                .indexBytes(index)
                .maxIndexBytes(2 * index)
                .logMemoryBytes(logMemoryBytes)
                .pageBytes(PAGE_BYTES)
                .scratchBytes(SCRATCH_BYTES)
                .mutableFraction(mutableFraction)
                .maxSessions(SESSIONS)
                .deleteOnClose(true)
                .directIo(true)
                .build());
    valueBytes = plan.valueBytes();
    session = store.newSession().mode(SessionMode.PENDING).spans(new Functions(reads));
    writer = new Writer(session);
  }

  /** Sets keys' counts; for one thread. */
  final class Writer implements AutoCloseable {
    private final Session<Void, Reads, Void> session;
    private final ByteSpan key = ByteSpan.of(new byte[Long.BYTES]);
    private final ByteSpan value = ByteSpan.of(new byte[valueBytes]);

    private Writer(Session<Void, Reads, Void> session) {
      this.session = session;
    }

    void put(long number, long count) {
      key.putLong(0, number);
      value.putLong(0, Values.of(number, count));
      session.upsert(key, value, null);
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** Creates a writer with a session of its own for another thread. */
  Writer newWriter() {
    return new Writer(
        store.newSession().mode(SessionMode.PENDING).spans(new Functions(new Reads())));
  }

  /** Sets a key's count. */
  public void put(long number, long count) {
    writer.put(number, count);
  }

  /** Adds 1 to a key's count; completes pending operations now and then. */
  public void rmw(long number) {
    key.putLong(0, number);
    session.rmw(key, null, null);
  }

  /** Starts to read a key; waits while {@code depth} reads from disk are in progress. */
  public void read(long number, int depth) {
    key.putLong(0, number);
    Status status = session.read(key, null, reads, null);
    if (status == Status.PENDING) {
      reads.underWay++;
    } else if (status == Status.NOT_FOUND) {
      reads.missing++;
    }
    session.completePending(depth - 1);
  }

  /** Waits for all reads and compares their results. */
  public void settle(long expectedFingerprints) {
    session.completePending(true);
    if (reads.missing != 0 || reads.fingerprints != expectedFingerprints) {
      throw new WrongAnswer(
          "reads from disk have not returned what was written: missing="
              + reads.missing
              + ", sum of fingerprints="
              + reads.fingerprints
              + ", allowed="
              + expectedFingerprints);
    }
  }

  /** The results of reads so far. */
  public Reads reads() {
    return reads;
  }

  /** Doubles the index. */
  public void grow() {
    store.index().grow();
  }

  /** Compacts the log; returns the number of bytes dropped. */
  public long compact() {
    return store.log().compact();
  }

  /** Reads the whole log with all versions; returns the number of records. */
  public long scan() {
    long records = 0;
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        records++;
      }
    }
    return records;
  }

  /** The store's off-heap budget. */
  public long budgetBytes() {
    return store.config().memoryBytes();
  }

  /** Bytes of log, in memory and on disk. */
  public long logBytes() {
    return store.statistics().logBytes();
  }

  @Override
  public void close() {
    session.close();
    store.close();
  }

  /** Adds up what it reads; upserts only write. */
  private record Functions(Reads reads) implements StoreFunctions<Void, Reads, Void> {
    @Override
    public void singleReader(
        ByteSpan key, Void input, ByteSpan value, Reads output, RecordView record) {
      output.fingerprints += Values.fingerprintIn(value.getLong(0));
    }

    @Override
    public int initialBytes(ByteSpan key, Void input) {
      return Long.BYTES;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Void input, ByteSpan value, Reads output, RecordView record) {
      value.putLong(0, Values.of(key.getLong(0), 1));
      value.setLength(Long.BYTES);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Void input, ByteSpan value, Reads output, RecordView record) {
      value.putLong(0, value.getLong(0) + 1);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return oldValue.length();
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Void input,
        ByteSpan oldValue,
        ByteSpan newValue,
        Reads output,
        RecordView record) {
      newValue.setTo(oldValue);
    }

    @Override
    public void completionCallback(
        Status status, Void input, @Nullable Reads output, Void context) {
      if (output == null) {
        return; // an RMW
      }
      reads.underWay--;
      reads.fromDisk++;
      if (status != Status.FOUND) {
        reads.missing++;
      }
    }
  }
}

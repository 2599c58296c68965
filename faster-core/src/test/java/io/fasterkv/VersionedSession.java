package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.api.session.SessionMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes and reads versions of numbered keys, in either kind of record. */
interface VersionedSession extends AutoCloseable {

  /** Receives the version that a read found, 0 for none, at once or when a pending read ends. */
  interface Found {
    void version(long version);
  }

  void read(int key, Found found);

  void upsert(int key, long version);

  void rmw(int key, long version);

  void delete(int key);

  void completePending();

  void copyReads(CopyReads wanted);

  @Override
  void close();

  static VersionedSession open(FasterStore store, SessionMode mode, int maxPadding) {
    return store.config().recordKind() == RecordKind.LONGS
        ? new Longs(store, mode)
        : new Spans(store, mode, new VersionedFunctions(maxPadding));
  }

  /** The bytes of a numbered key: 8 to 26 bytes. */
  static ByteSpan key(int key) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + key % 19).order(ByteOrder.nativeOrder());
    return ByteSpan.of(bytes.putLong(0, key).array());
  }

  private static void require(boolean condition, String operation, Status status) {
    if (!condition) {
      throw new IllegalStateException(operation + " has ended with " + status);
    }
  }

  /** Values of any length that describe themselves. */
  final class Spans implements VersionedSession {
    private final VersionedFunctions functions;
    private final Session<Long, VersionedFunctions.Result, VersionedFunctions.Reader> session;

    Spans(FasterStore store, SessionMode mode, VersionedFunctions functions) {
      this.functions = functions;
      session = store.newSession().mode(mode).spans(functions);
    }

    @Override
    public void read(int key, Found found) {
      VersionedFunctions.Result result = new VersionedFunctions.Result();
      VersionedFunctions.Reader ended =
          (status, output) -> {
            require(status == Status.FOUND || status == Status.NOT_FOUND, "read", status);
            found.version(status == Status.FOUND ? output.version : 0);
          };
      Status status = session.read(VersionedSession.key(key), 0L, result, ended);
      if (status != Status.PENDING) {
        ended.ended(status, result);
      }
    }

    @Override
    public void upsert(int key, long version) {
      Status status =
          session.upsert(VersionedSession.key(key), functions.value(key, version), null);
      require(status != Status.PENDING && status != Status.NOT_FOUND, "upsert", status);
    }

    @Override
    public void rmw(int key, long version) {
      Status status = session.rmw(VersionedSession.key(key), version, (ended, result) -> {});
      require(status != Status.NOT_FOUND && status != Status.FOUND, "rmw", status);
      if (status == Status.PENDING) {
        completePending();
      }
    }

    @Override
    public void delete(int key) {
      Status status = session.delete(VersionedSession.key(key), null);
      require(status == Status.FOUND || status == Status.NOT_FOUND, "delete", status);
    }

    @Override
    public void completePending() {
      session.completePending(true);
    }

    @Override
    public void copyReads(CopyReads wanted) {
      session.copyReads(wanted);
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** The version is stored as the value. */
  final class Longs implements VersionedSession, LongFunctions<Found> {
    private final LongSession<Found> session;

    Longs(FasterStore store, SessionMode mode) {
      session = store.newSession().mode(mode).longs(this);
    }

    @Override
    public long initialUpdater(long key, long version) {
      return version;
    }

    @Override
    public long updater(long key, long version, long oldVersion) {
      if (oldVersion != version - 1) {
        throw new IllegalStateException(
            "an update of key " + key + " to version " + version + " sees version " + oldVersion);
      }
      return version;
    }

    @Override
    public void completionCallback(Status status, long key, long value, Found found) {
      if (found != null) {
        found.version(status == Status.FOUND ? value : 0);
      }
    }

    @Override
    public void read(int key, Found found) {
      Status status = session.read(key, found);
      if (status != Status.PENDING) {
        require(status == Status.FOUND || status == Status.NOT_FOUND, "read", status);
        found.version(session.value());
      }
    }

    @Override
    public void upsert(int key, long version) {
      Status status = session.upsert(key, version, null);
      require(status != Status.PENDING && status != Status.NOT_FOUND, "upsert", status);
    }

    @Override
    public void rmw(int key, long version) {
      if (session.rmw(key, version, null) == Status.PENDING) {
        completePending();
      }
    }

    @Override
    public void delete(int key) {
      session.delete(key, null);
    }

    @Override
    public void completePending() {
      session.completePending(true);
    }

    @Override
    public void copyReads(CopyReads wanted) {
      session.copyReads(wanted);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}

package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;

/** Puts records of other stores into one, as they are. For one thread. */
public final class RecordCopies implements AutoCloseable {
  private static final Object NO_CONTEXT = new Object();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;

  public RecordCopies(FasterStore store) {
    session = store.newSession(functions, SessionMode.BLOCKING);
  }

  /** Sets a key's value. */
  public void put(ByteSpan key, ByteSpan value) {
    functions.nextUpsert(value.length());
    session.upsert(key, value, NO_CONTEXT);
  }

  public void delete(ByteSpan key) {
    session.delete(key, NO_CONTEXT);
  }

  @Override
  public void close() {
    session.close();
  }
}

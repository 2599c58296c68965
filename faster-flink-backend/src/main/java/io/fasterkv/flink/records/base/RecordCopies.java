package io.fasterkv.flink.records.base;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;

/** Copies records of other stores unchanged into one store. For one thread. */
public final class RecordCopies implements AutoCloseable {
  private static final Object NO_CONTEXT = new Object();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;

  public RecordCopies(FasterStore store) {
    session = store.newSession().spans(functions);
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

package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import java.io.IOException;

/** Puts records of other stores into one, as they are. For one thread. */
public final class RecordCopies implements AutoCloseable {
  private static final Object NO_CONTEXT = new Object();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;
  private final int limit;

  public RecordCopies(FasterStore store) {
    session = store.newSession(functions, SessionMode.BLOCKING);
    limit = Records.limit(store);
  }

  /**
   * Sets a key's value.
   *
   * @throws IOException if one of them is longer than the store's own are
   */
  public void put(ByteSpan key, ByteSpan value) throws IOException {
    if (key.length() > limit || value.length() > limit) {
      throw new IOException(
          "a record does not fit the store's pages: keyBytes="
              + key.length()
              + ", valueBytes="
              + value.length()
              + ", allowed="
              + limit
              + " each, a quarter of a log page; raise state.backend.faster.log.page-size, or the"
              + " store's memory");
    }
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

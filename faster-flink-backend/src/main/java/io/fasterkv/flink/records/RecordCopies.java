package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import java.io.IOException;

/** Puts records of other stores into one, as they are. For one thread. */
public final class RecordCopies implements AutoCloseable {
  private static final Object NO_CONTEXT = new Object();

  /** More than a record has besides its key and value. */
  private static final int RECORD_OVERHEAD = 64;

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;
  private final int keyLimit;
  private final int valueLimit;

  public RecordCopies(FasterStore store) {
    session = store.newSession(functions, SessionMode.BLOCKING);
    keyLimit = Records.limit(store);
    valueLimit = store.config().pageBytes() - keyLimit - RECORD_OVERHEAD;
  }

  /**
   * Sets a key's value.
   *
   * @throws IOException if they do not fit a page
   */
  public void put(ByteSpan key, ByteSpan value) throws IOException {
    if (key.length() > keyLimit || value.length() > valueLimit) {
      throw new IOException(
          "a record does not fit the store's pages: keyBytes="
              + key.length()
              + ", valueBytes="
              + value.length()
              + ", allowed="
              + keyLimit
              + " and "
              + valueLimit
              + ", so that both fit a log page; raise state.backend.faster.log.page-size, or the"
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

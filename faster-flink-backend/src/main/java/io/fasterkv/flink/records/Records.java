package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/** Reads and writes single records of a store through one session. For one thread at a time. */
public final class Records implements AutoCloseable {
  static final int ABSENT = -1;
  private static final int RECORDS_PER_PAGE = 4;
  private static final Object NO_CONTEXT = new Object();
  private static final RecordEdit NO_EDIT = new NoEdit();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;
  private final ByteSpan source = new ByteSpan();
  private final Appender appender = new Appender();
  private final BitSet statesWithParts = new BitSet();
  private final int limit;
  private byte[] wrapped = new byte[0];
  private MemorySegment wrapping = MemorySegment.ofArray(wrapped);

  public Records(FasterStore store) {
    this.session = store.newSession(functions, SessionMode.BLOCKING);
    this.limit = limit(store);
  }

  /** Longest key, and longest value, of one record of a store. */
  static int limit(FasterStore store) {
    return store.config().pageBytes() / RECORDS_PER_PAGE;
  }

  /** Longest value of one record: a quarter of a page; what is longer is cut into parts. */
  public int limit() {
    return limit;
  }

  /**
   * Whether this state ever had a value of more than one record. If not, a head record can be
   * overwritten or deleted without a look at it.
   */
  boolean mayHaveParts(int state) {
    return statesWithParts.get(state);
  }

  BitSet statesWithParts() {
    return (BitSet) statesWithParts.clone();
  }

  void notePartsOf(int state) {
    statesWithParts.set(state);
  }

  /** Runs the reader if the key has a value. */
  boolean read(ByteSpan key, RecordReader reader) {
    checkLength(key);
    return session.read(key, NO_EDIT, reader, NO_CONTEXT) == Status.FOUND;
  }

  /**
   * Puts the value, without its first {@code skip} bytes, behind what {@code into} holds.
   *
   * @return the value's first byte, or {@link #ABSENT} if there is no value
   */
  int append(ByteSpan key, int skip, Bytes into) {
    return read(key, appender.to(into, skip)) ? appender.firstByte & 0xFF : ABSENT;
  }

  /** Sets the value to {@code length} bytes from {@code offset} on. */
  void put(ByteSpan key, byte[] bytes, int offset, int length) {
    checkLength(key);
    functions.nextUpsert(length);
    session.upsert(key, source.wrap(wrap(bytes), offset, length, length), NO_CONTEXT);
  }

  /** Sets the value; a new record gets room for {@code capacity} bytes in all. */
  void put(ByteSpan key, Bytes value, int capacity) {
    checkLength(key);
    int length = value.length();
    int room = Math.max(length, capacity);
    value.reserve(room);
    functions.nextUpsert(length);
    session.upsert(key, source.wrap(value.segment(), 0, room, room), NO_CONTEXT);
  }

  void edit(ByteSpan key, RecordEdit edit) {
    checkLength(key);
    session.rmw(key, edit, NO_CONTEXT);
  }

  /** How many operations on the store there have been. */
  long operations() {
    return session.serial();
  }

  void delete(ByteSpan key) {
    checkLength(key);
    session.delete(key, NO_CONTEXT);
  }

  /** So that a key and the longest value fit a page together. */
  private void checkLength(ByteSpan key) {
    if (key.length() > limit) {
      throw new IllegalArgumentException(
          "a key is too long together with its namespace: bytes="
              + key.length()
              + ", allowed="
              + limit
              + ", a quarter of a log page; raise state.backend.faster.log.page-size");
    }
  }

  /** Remembers the last array that it wrapped, unless that is a huge one. */
  private MemorySegment wrap(byte[] bytes) {
    if (bytes.length > Bytes.KEPT_BYTES) {
      return MemorySegment.ofArray(bytes);
    }
    if (bytes != wrapped) {
      wrapped = bytes;
      wrapping = MemorySegment.ofArray(bytes);
    }
    return wrapping;
  }

  @Override
  public void close() {
    session.close();
  }

  /** Appends a value to bytes that are there; a repeated call does not append twice. */
  private static final class Appender implements RecordReader {
    private Bytes into = new Bytes();
    private int base;
    private int skip;
    private byte firstByte;

    Appender to(Bytes target, int skipped) {
      into = target;
      base = target.length();
      skip = skipped;
      return this;
    }

    @Override
    public void read(ByteSpan value) {
      firstByte = value.length() == 0 ? 0 : value.getByte(0);
      int count = value.length() - skip;
      into.setLength(Math.addExact(base, count));
      value.copyTo(skip, into.array(), base, count);
    }
  }

  /** What a read carries in. */
  private static final class NoEdit implements RecordEdit {
    @Override
    public int initialBytes() {
      throw new AssertionError("a read does not write");
    }

    @Override
    public void initial(ByteSpan value) {
      throw new AssertionError("a read does not write");
    }

    @Override
    public boolean inPlace(ByteSpan value) {
      throw new AssertionError("a read does not write");
    }

    @Override
    public int copyBytes(ByteSpan oldValue) {
      throw new AssertionError("a read does not write");
    }

    @Override
    public void copy(ByteSpan oldValue, ByteSpan newValue) {
      throw new AssertionError("a read does not write");
    }
  }
}

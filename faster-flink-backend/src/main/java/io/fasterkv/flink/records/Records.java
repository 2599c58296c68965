package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.flink.key.CompositeKey;
import java.lang.foreign.MemorySegment;

/**
 * Reads and writes single records of a store through one session. For one thread at a time.
 * Extended only by tests, which look at all operations so.
 */
public class Records implements AutoCloseable {
  static final int ABSENT = -1;
  private static final Object NO_CONTEXT = new Object();
  private static final RecordEdit NO_EDIT = new NoEdit();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;
  private final ByteSpan source = new ByteSpan();
  private final Appender appender = new Appender();
  private final PartReader partReader = new PartReader();
  private final Identities identities;
  private final int keyLimit;
  private final int limit;
  private byte[] wrapped = new byte[0];
  private MemorySegment wrapping = MemorySegment.ofArray(wrapped);

  public Records(FasterStore store, Identities identities) {
    this.identities = identities;
    this.session = store.newSession(functions, SessionMode.BLOCKING);
    int page = store.config().pageBytes();
    this.keyLimit = page / 2;
    this.limit = limit(page);
  }

  static int limit(int pageBytes) {
    return pageBytes / 4 - pageBytes / 128;
  }

  /**
   * The longest value of one record; longer values are cut into parts. A little less than a quarter
   * of a page, so that four parts with their keys fit a page.
   */
  public int limit() {
    return limit;
  }

  Identities identities() {
    return identities;
  }

  /** A new identity, of a value whose parts are written next and then its head. */
  long takeIdentity() {
    return identities.take();
  }

  /** Tells that a part is not there. Its value goes on without it if parts of its state expire. */
  void checkMayMiss(CompositeKey key, int part) {
    if (!identities.isTimed(key.state())) {
      throw new MissingPart(identities.stateName(key.state()), key, part);
    }
  }

  /** Runs the reader if the key has a value. */
  boolean read(ByteSpan key, RecordReader reader) {
    checkLength(key);
    return session.read(key, NO_EDIT, reader, NO_CONTEXT) == Status.FOUND;
  }

  /** As {@link #read}, of a part; false also if that is another value's. */
  boolean readPart(ByteSpan key, long identity, RecordReader reader) {
    return read(key, partReader.of(identity, reader)) && partReader.isOwn;
  }

  boolean hasPart(ByteSpan key, long identity) {
    return readPart(key, identity, value -> {});
  }

  /**
   * Puts a part, without its first {@code skip} bytes, behind what {@code into} holds.
   *
   * @return the byte behind the identity, or {@link #ABSENT} if the value has no such part
   */
  int appendPart(ByteSpan key, long identity, int skip, Bytes into) {
    return readPart(key, identity, appender.to(into, skip)) ? appender.tag & 0xFF : ABSENT;
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

  /** Sets a head, whose parts have been written. */
  void putHead(ByteSpan key, Bytes head) {
    put(key, head, head.length());
    identities.written();
  }

  void edit(ByteSpan key, RecordEdit edit) {
    checkLength(key);
    session.rmw(key, edit, NO_CONTEXT);
  }

  /**
   * Edits a part. Where parts expire, the head may have gone with the last of them: the part stays
   * until {@link #putHead} or {@link Identities#written} tells that its head is there.
   */
  void editPart(CompositeKey key, int part, long identity, RecordEdit edit) {
    if (identities.isTimed(key.state())) {
      identities.writing(identity);
    }
    edit(key.record(part), edit);
  }

  /** Brings what operations on these keys will need into the cache. */
  void touch(ByteSpan[] keys, int count) {
    session.touch(keys, count);
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
    if (key.length() > keyLimit) {
      throw new IllegalArgumentException(
          "a key is too long together with its namespace: bytes="
              + key.length()
              + ", allowed="
              + keyLimit
              + " in stores of any memory; use a hash of the key, and keep the key in the value");
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

  /** Shows a part to a reader if it is the value's. */
  private static final class PartReader implements RecordReader {
    private static final RecordReader NOBODY = value -> {};
    private long identity;
    private RecordReader reader = NOBODY;
    private boolean isOwn;

    PartReader of(long wanted, RecordReader then) {
      identity = wanted;
      reader = then;
      return this;
    }

    @Override
    public void read(ByteSpan value) {
      isOwn = PartLayout.ofPart(value) == identity;
      if (isOwn) {
        reader.read(value);
      }
    }
  }

  /** Appends a part to bytes that are there; a repeated call does not append twice. */
  private static final class Appender implements RecordReader {
    private Bytes into = new Bytes();
    private int base;
    private int skip;
    private byte tag;

    Appender to(Bytes target, int skipped) {
      into = target;
      base = target.length();
      skip = skipped;
      return this;
    }

    @Override
    public void read(ByteSpan value) {
      tag = value.getByte(PartLayout.IDENTITY_BYTES);
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

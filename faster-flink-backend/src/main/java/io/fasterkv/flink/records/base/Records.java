package io.fasterkv.flink.records.base;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.flink.key.CompositeKey;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes single records of a store through one session. For one thread at a time. Only
 * tests extend it, to observe all operations.
 */
public class Records implements AutoCloseable {
  public static final int ABSENT = -1;
  private static final RecordReader NOTHING = value -> {};
  private static final Object NO_CONTEXT = new Object();
  private static final RecordEdit NO_EDIT = new NoEdit();

  private final RecordFunctions functions = new RecordFunctions();
  private final Session<RecordEdit, RecordReader, Object> session;
  private final ByteSpan source = new ByteSpan();
  private final Appender appender = new Appender();
  private final PartReader partReader = new PartReader();
  private final ValueIncarnations incarnations;
  private final int limit;
  private @Nullable KeyRecords keyRecords;
  private byte[] wrapped = new byte[0];
  private MemorySegment wrapping = MemorySegment.ofArray(wrapped);

  public Records(FasterStore store, ValueIncarnations incarnations) {
    this.incarnations = incarnations;
    this.session = store.newSession().spans(functions);
    this.limit = limit(store.config().pageBytes());
  }

  public static int limit(int pageBytes) {
    return pageBytes / 4 - pageBytes / 128;
  }

  /**
   * Maximum length of one record's value; longer values are cut into parts. A little less than a
   * quarter of a page, so that four parts with their keys fit a page.
   */
  public int limit() {
    return limit;
  }

  public ValueIncarnations incarnations() {
    return incarnations;
  }

  /**
   * Takes a new incarnation for a value whose parts are written next and whose head is written
   * last.
   */
  public long takeIncarnation() {
    return incarnations.take();
  }

  /** Called for a missing part: returns if parts of its state can expire, otherwise throws. */
  public void checkMayMiss(CompositeKey key, int part) {
    if (!incarnations.isTimed(key.state())) {
      throw new MissingPart(incarnations.stateName(key.state()), key, part);
    }
  }

  /** Calls the reader if the key has a value. */
  public boolean read(ByteSpan key, RecordReader reader) {
    return session.read(key, NO_EDIT, reader, NO_CONTEXT) == Status.FOUND;
  }

  /** Like {@link #read}, for a part; also returns false if the part belongs to another value. */
  public boolean readPart(ByteSpan key, long incarnation, RecordReader reader) {
    return read(key, partReader.of(incarnation, reader)) && partReader.isOwn;
  }

  /** Whether the key has a value, of which this reads nothing. */
  public boolean has(ByteSpan key) {
    return read(key, NOTHING);
  }

  public boolean hasPart(ByteSpan key, long incarnation) {
    return readPart(key, incarnation, NOTHING);
  }

  /**
   * Appends a part, without its first {@code skip} bytes, to {@code into}.
   *
   * @return the byte after the incarnation, or {@link #ABSENT} if the value has no such part
   */
  public int appendPart(ByteSpan key, long incarnation, int skip, Bytes into) {
    return readPart(key, incarnation, appender.to(into, skip)) ? appender.tag & 0xFF : ABSENT;
  }

  /** Sets the value to the {@code length} bytes that start at {@code offset}. */
  public void put(ByteSpan key, byte[] bytes, int offset, int length) {
    functions.nextUpsert(length);
    session.upsert(key, source.wrap(wrap(bytes), offset, length, length), NO_CONTEXT);
  }

  /** Sets the value; a new record has a total capacity of {@code capacity} bytes. */
  public void put(ByteSpan key, Bytes value, int capacity) {
    int length = value.length();
    int room = Math.max(length, capacity);
    value.reserve(room);
    functions.nextUpsert(length);
    session.upsert(key, source.wrap(value.segment(), 0, room, room), NO_CONTEXT);
  }

  /** Sets a head after its parts were written. */
  public void putHead(CompositeKey key, Bytes head) {
    putHead(key, head, head.length());
    incarnations.written();
  }

  /** Sets a head whose parts do not change; the capacity is as in {@link #put}. */
  public void putHead(CompositeKey key, Bytes head, int capacity) {
    beginHead(key);
    put(key.head(), head, capacity);
    endHead(key);
  }

  /** Sets a head whose parts do not change. */
  void putHead(CompositeKey key, byte[] bytes, int offset, int length) {
    beginHead(key);
    put(key.head(), bytes, offset, length);
    endHead(key);
  }

  /** Edits a head. */
  public void editHead(CompositeKey key, RecordEdit edit) {
    beginHead(key);
    edit(key.head(), edit);
    endHead(key);
  }

  /** Called before a head is written. */
  private void beginHead(CompositeKey key) {
    if (key.isLong()) {
      functions.nextHead();
    }
  }

  /** Called after a head was written: stores its key if the key is long. */
  private void endHead(CompositeKey key) {
    if (key.isLong() && functions.hasAppended()) {
      keyRecords().put(key);
    }
  }

  /** The key records of long keys. */
  public KeyRecords keyRecords() {
    KeyRecords made = keyRecords;
    if (made == null) {
      made = new KeyRecords(this);
      keyRecords = made;
    }
    return made;
  }

  public void edit(ByteSpan key, RecordEdit edit) {
    session.rmw(key, edit, NO_CONTEXT);
  }

  /**
   * Edits a part. Where parts expire, compaction may have dropped the head with the last part; the
   * new part is kept until {@link #putHead} or {@link ValueIncarnations#written} reports that its
   * head is written.
   */
  public void editPart(CompositeKey key, int part, long incarnation, RecordEdit edit) {
    if (incarnations.isTimed(key.state())) {
      incarnations.writing(incarnation);
    }
    edit(key.record(part), edit);
  }

  /** Prefetches what operations on these keys will need. */
  public void prefetch(ByteSpan[] keys, int count) {
    session.prefetch(keys, count);
  }

  /** Number of operations on the store so far. */
  public long operations() {
    return session.serial();
  }

  public void delete(ByteSpan key) {
    session.delete(key, NO_CONTEXT);
  }

  /** Caches the segment of the last array, unless the array is huge. */
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

  /** Passes a part to a reader if it belongs to the value. */
  private static final class PartReader implements RecordReader {
    private static final RecordReader NOBODY = value -> {};
    private long incarnation;
    private RecordReader reader = NOBODY;
    private boolean isOwn;

    PartReader of(long wanted, RecordReader then) {
      incarnation = wanted;
      reader = then;
      return this;
    }

    @Override
    public void read(ByteSpan value) {
      isOwn = PartLayout.ofPart(value) == incarnation;
      if (isOwn) {
        reader.read(value);
      }
    }
  }

  /** Appends a part to a buffer; a repeated call does not append twice. */
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
      tag = value.getByte(PartLayout.INCARNATION_BYTES);
      int count = value.length() - skip;
      into.setLength(Math.addExact(base, count));
      value.copyTo(skip, into.array(), base, count);
    }
  }

  /** The edit that a read carries. */
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

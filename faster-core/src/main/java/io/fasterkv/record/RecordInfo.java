package io.fasterkv.record;

/**
 * The first word of a record (SIGMOD'18, figure 2).
 *
 * <pre>
 *  63       62..57  56     55     54     53    52           51       50      49       48         47..0
 *  PRESENT  VERSION CHUNK  LARGE  DELTA  FORK  OVERWRITTEN  PADDING  SEALED  INVALID  TOMBSTONE  previous
 * </pre>
 *
 * <ul>
 *   <li>PRESENT is set in every record: a zero word means that nothing follows on the page.
 *   <li>TOMBSTONE: the key was deleted. Never cleared.
 *   <li>INVALID: the record never got into its chain; scans skip it.
 *   <li>SEALED: a copy at the tail has replaced this record; it is no longer updated in place. A
 *       delta of longs also has it while it is being changed. It means nothing below the safe
 *       read-only address and on disk.
 *   <li>PADDING: not a record but a gap; the low 48 bits are its length in bytes, including this
 *       word.
 *   <li>OVERWRITTEN: a newer record of the key is further up in the chain, permanently, and in
 *       every checkpoint that has this one, so compaction need not search (appendix C). Most
 *       overwritten records do not have this bit.
 *   <li>FORK: not a record of a key but a {@link ForkRecord}, which splits the chain into two by
 *       hash.
 *   <li>DELTA: the value is to be merged with the next older record of the key. A delta at the end
 *       of its chain, or above a tombstone, is itself the value. Every delta of a chain counts
 *       once.
 *   <li>LARGE: the record's value is a {@link LargeAnchor}, which leads to the chunks of the value.
 *   <li>CHUNK: a piece of a large value, in no chain; a {@link ChunkRecord}. The low 48 bits are
 *       the address of the piece that was written before it.
 *   <li>VERSION: the version of the store that the record belongs to, modulo 64 (concurrent prefix
 *       recovery, section 6).
 * </ul>
 */
public final class RecordInfo {
  public static final long BYTES = Long.BYTES;
  public static final long PRESENT = 1L << 63;
  public static final long TOMBSTONE = 1L << 48;
  public static final long INVALID = 1L << 49;
  public static final long SEALED = 1L << 50;
  public static final long PADDING = 1L << 51;
  public static final long OVERWRITTEN = 1L << 52;
  public static final long FORK = 1L << 53;
  public static final long DELTA = 1L << 54;
  public static final long LARGE = 1L << 55;
  public static final long CHUNK = 1L << 56;

  /** Number of versions that the word distinguishes; versions are compared modulo this. */
  public static final int VERSIONS = 64;

  private static final int VERSION_SHIFT = 57;
  public static final long VERSION_MASK = (VERSIONS - 1L) << VERSION_SHIFT;

  private RecordInfo() {}

  /** The word of a record that is being filled and is not in its chain yet. */
  public static long unpublished(long previousAddress) {
    return PRESENT | INVALID | previousAddress;
  }

  /** The word of a complete record that is about to enter its chain. */
  public static long complete(long previousAddress, boolean tombstone) {
    return PRESENT | (tombstone ? TOMBSTONE : 0) | previousAddress;
  }

  /** The word of a fork whose left chain begins at an address. */
  public static long fork(long leftAddress) {
    return PRESENT | FORK | leftAddress;
  }

  /** Like {@link #complete(long, boolean)}, with the caller's bits. */
  public static long complete(long previousAddress, long bits) {
    return PRESENT | bits | previousAddress;
  }

  public static long padding(long lengthBytes) {
    return PRESENT | PADDING | lengthBytes;
  }

  /** The version of the store that the record belongs to, modulo {@link #VERSIONS}. */
  public static int version(long info) {
    return (int) ((info & VERSION_MASK) >>> VERSION_SHIFT);
  }

  /** The bits of a version, for a word that has none. */
  public static long versionBits(long version) {
    return (version & (VERSIONS - 1)) << VERSION_SHIFT;
  }

  /** The newest version up to {@code newest} that has these bits. */
  public static long versionUpTo(long newest, long info) {
    return newest - ((newest - version(info)) & (VERSIONS - 1));
  }

  public static long previousAddress(long info) {
    return info & Address.MASK;
  }

  public static long paddingBytes(long info) {
    return info & Address.MASK;
  }

  public static boolean isPresent(long info) {
    return (info & PRESENT) != 0;
  }

  public static boolean isFork(long info) {
    return (info & FORK) != 0;
  }

  /** Whether the word is that of a chain's record with a key: present and not a fork. */
  public static boolean isKeyed(long info) {
    return (info & (PRESENT | FORK)) == PRESENT;
  }

  public static boolean isTombstone(long info) {
    return (info & TOMBSTONE) != 0;
  }

  public static boolean isInvalid(long info) {
    return (info & INVALID) != 0;
  }

  public static boolean isOverwritten(long info) {
    return (info & OVERWRITTEN) != 0;
  }

  /** Whether the record is a delta; a deleted delta is a tombstone instead. */
  public static boolean isDelta(long info) {
    return (info & (DELTA | TOMBSTONE)) == DELTA;
  }

  public static boolean isSealed(long info) {
    return (info & SEALED) != 0;
  }

  public static boolean isPadding(long info) {
    return (info & PADDING) != 0;
  }

  public static boolean isLarge(long info) {
    return (info & LARGE) != 0;
  }

  public static boolean isChunk(long info) {
    return (info & CHUNK) != 0;
  }

  /** Whether the record must not be updated in place, whatever region it is in. */
  public static boolean isFrozen(long info) {
    return (info & (SEALED | TOMBSTONE)) != 0;
  }
}

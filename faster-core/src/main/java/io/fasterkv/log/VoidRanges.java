package io.fasterkv.log;

import io.fasterkv.record.RecordInfo;
import java.util.ArrayList;
import java.util.List;

/**
 * Records that a recovery has undone. Beside the version that a checkpoint commits, the log may
 * already hold records of the next one; a store that is recovered from that checkpoint must never
 * see them. They are not rewritten but remembered, as ranges of the log in which one version is
 * void: scans step over them, and no chain leads to them. Immutable.
 */
public final class VoidRanges {
  /** None. */
  public static final VoidRanges NONE = new VoidRanges(List.of());

  /**
   * A range in which the records of one version are void.
   *
   * @param from first address
   * @param until first address after it
   * @param version the version, modulo {@link RecordInfo#VERSIONS}
   */
  public record VoidRange(long from, long until, int version) {
    public VoidRange {
      if (from < 0 || from >= until || version < 0 || version >= RecordInfo.VERSIONS) {
        throw new IllegalArgumentException(
            "a void range is out of range: from="
                + from
                + ", until="
                + until
                + ", version="
                + version
                + ", allowed=from below until, version 0 to "
                + (RecordInfo.VERSIONS - 1));
      }
    }
  }

  private final VoidRange[] ranges;

  /** All ranges end here or below, so that most records are let through by one comparison. */
  private final long end;

  public VoidRanges(List<VoidRange> ranges) {
    this.ranges = ranges.toArray(VoidRange[]::new);
    end = ranges.stream().mapToLong(VoidRange::until).max().orElse(0);
  }

  /**
   * Whether the record at an address, whose first word is {@code info}, was undone. A piece of a
   * large value has no version: the record that leads to it has.
   */
  public boolean contains(long address, long info) {
    if (address >= end || RecordInfo.isChunk(info)) {
      return false;
    }
    for (VoidRange range : ranges) {
      if (address >= range.from
          && address < range.until
          && RecordInfo.version(info) == range.version) {
        return true;
      }
    }
    return false;
  }

  /** Those that reach above an address. */
  public List<VoidRange> above(long address) {
    List<VoidRange> above = new ArrayList<>();
    for (VoidRange range : ranges) {
      if (range.until > address) {
        above.add(range);
      }
    }
    return above;
  }
}

package io.fasterkv.log;

import io.fasterkv.record.RecordInfo;
import java.util.ArrayList;
import java.util.List;

/**
 * Remembers the records that a recovery has undone. The log may hold records of the next version
 * beside those of the version that a checkpoint commits; a store recovered from that checkpoint
 * must never see them. They are not rewritten but remembered, as ranges of the log in which one
 * version is void: scans skip them, and no chain leads to them. Immutable.
 */
public final class VoidRanges {
  /** No ranges. */
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

  /** All ranges end at or below this address, so one comparison decides about most records. */
  private final long end;

  public VoidRanges(List<VoidRange> ranges) {
    this.ranges = ranges.toArray(VoidRange[]::new);
    end = ranges.stream().mapToLong(VoidRange::until).max().orElse(0);
  }

  /**
   * Whether the record at an address, whose first word is {@code info}, was undone. A chunk of a
   * large value has no version; the record that leads to it has.
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

  /** The ranges that end above an address. */
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

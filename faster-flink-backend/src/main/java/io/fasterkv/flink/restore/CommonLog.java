package io.fasterkv.flink.restore;

import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.spi.StoreImport;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * A log that a store can open: the log of one handle, or the part that the logs of several handles
 * have in common. Subtasks have a common part if they began with one log and have not compacted all
 * of it since. The other records of a handle are inserted into the store one by one.
 *
 * <p>The common part begins where the last of the logs begins: a log that begins later may lack
 * tombstones of keys that still have values in another log. All records of a log that begins
 * earlier are inserted, so that the last record of each key counts. The common part ends where the
 * logs diverge, because from there on the chains of each subtask skip the records of other keys.
 *
 * @param source the handle whose log head is used
 * @param log its begin and end
 * @param files the log's files, in the order of their addresses
 * @param members the handles whose logs contain it
 */
record CommonLog(
    IncrementalSource source,
    StoreImport log,
    List<LogFile> files,
    List<IncrementalSource> members) {

  /**
   * The best log to open for this subtask's key groups: it is right for them and leaves the fewest
   * bytes to insert record by record. Null if there is none.
   */
  static @Nullable CommonLog best(List<IncrementalSource> sources, KeyGroupRange own) {
    CommonLog best = null;
    for (IncrementalSource source : sources) {
      for (CommonLog log : List.of(whole(source), shared(source, sources))) {
        if (log.isRightFor(own) && (best == null || log.sparedBytes(own) > best.sparedBytes(own))) {
          best = log;
        }
      }
    }
    return best;
  }

  private static CommonLog whole(IncrementalSource source) {
    return new CommonLog(source, source.log(), source.files(), List.of(source));
  }

  /** The part of a log, from its begin, that all logs with its first file have in common. */
  private static CommonLog shared(IncrementalSource source, List<IncrementalSource> sources) {
    List<IncrementalSource> members = new ArrayList<>();
    int common = source.files().size();
    for (IncrementalSource other : sources) {
      int same = countSameFiles(source, other);
      if (same > 0) {
        members.add(other);
        common = Math.min(common, same);
      }
    }
    if (members.size() <= 1) {
      return whole(source);
    }
    List<LogFile> files = source.files().subList(0, common);
    return new CommonLog(source, source.log().until(files.getLast().until()), files, members);
  }

  /** How many files, from the first on, another log shares. Zero if that log begins later. */
  private static int countSameFiles(IncrementalSource source, IncrementalSource other) {
    if (other.log().beginAddress() > source.log().beginAddress() || source.files().isEmpty()) {
      return 0;
    }
    LogFile first = source.files().getFirst();
    List<LogFile> others =
        other.files().stream().dropWhile(file -> file.from() < first.from()).toList();
    int most = Math.min(source.files().size(), others.size());
    int same = 0;
    while (same < most && isSame(source.files().get(same), others.get(same))) {
      same++;
    }
    return same;
  }

  private static boolean isSame(LogFile one, LogFile other) {
    StreamStateHandle file = one.handle();
    return one.from() == other.from()
        && one.until() == other.until()
        && file.getStreamStateHandleID().equals(other.handle().getStreamStateHandleID());
  }

  /**
   * Whether the log is right for the subtask's key groups: every stored group belongs to a member.
   * A subtask that has this log and owns a key group received the group with the log. So the log
   * and the handle's other records are all that the group has.
   */
  private boolean isRightFor(KeyGroupRange own) {
    KeyGroupRange inLog = source.meta().stored().getIntersection(own);
    for (int group : inLog) {
      if (members.stream().noneMatch(member -> member.range().contains(group))) {
        return false;
      }
    }
    return members.stream().anyMatch(member -> member.groupsOf(own) > 0);
  }

  private long sparedBytes(KeyGroupRange own) {
    return members.stream()
        .filter(this::beginsWithThis)
        .mapToLong(member -> member.groupsOf(own) * bytes() / member.range().getNumberOfKeyGroups())
        .sum();
  }

  private boolean beginsWithThis(IncrementalSource member) {
    return member.log().beginAddress() == log.beginAddress();
  }

  long bytes() {
    return log.endAddress() - log.beginAddress();
  }

  /** Whether this is the whole log of its source. */
  boolean isWhole() {
    return log.endAddress() == source.log().endAddress();
  }

  /** Address from which a source's records must be inserted into a store that opened this log. */
  long missingFrom(IncrementalSource of) {
    return members.contains(of) && beginsWithThis(of) ? log.endAddress() : of.log().beginAddress();
  }
}

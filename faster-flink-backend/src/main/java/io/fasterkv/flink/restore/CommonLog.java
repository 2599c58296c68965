package io.fasterkv.flink.restore;

import io.fasterkv.StoreImport;
import io.fasterkv.flink.snapshot.LogFile;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * A log that a store can begin with: that of one handle, or what the logs of several have in
 * common, as those of subtasks that began with one log and have not compacted all of it since. What
 * a handle has besides is put into the store record by record.
 *
 * <p>It begins where the last of the logs does: one that begins later may lack the tombstones of
 * keys that another has values of still. Of a log that begins before it all records are put in, so
 * that the last one of each key counts. And it ends where the logs part: each subtask has made
 * chains that go past the records of others' keys.
 *
 * @param source whose head it has
 * @param log its begin and end
 * @param files that have it, in the order of their addresses
 * @param members all whose logs have it
 */
record CommonLog(
    IncrementalSource source,
    StoreImport log,
    List<LogFile> files,
    List<IncrementalSource> members) {

  /**
   * The log to start with, if there is one with nothing wrong about the subtask's key groups: the
   * one that leaves the fewest bytes to insert record by record.
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

  /** What a log has in common, from its begin on, with all that have its first file. */
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

  /** How many files from the first one on another log has that does not begin later. */
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
   * Whether what it has of the subtask's key groups is what the members' subtasks had. Who has this
   * log and stands for a key group has got the group with it, so the log and what he has besides
   * are all of the group.
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

  /** Whether it is all of the log that it begins. */
  boolean isWhole() {
    return log.endAddress() == source.log().endAddress();
  }

  /** From where on a source's records are put into a store that has begun with it. */
  long missingFrom(IncrementalSource of) {
    return members.contains(of) && beginsWithThis(of) ? log.endAddress() : of.log().beginAddress();
  }
}

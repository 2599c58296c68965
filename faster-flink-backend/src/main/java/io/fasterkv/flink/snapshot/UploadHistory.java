package io.fasterkv.flink.snapshot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Tracks the files of the checkpoints that later ones may build on. A checkpoint builds on the
 * newest confirmed one, and uses only files that all later checkpoints also have: one of these may
 * already be complete, and the confirmed checkpoint deleted with the files that only it had, before
 * this side is notified. Safe for all threads.
 */
public final class UploadHistory {
  private static final long NONE = -1;

  /** Files by checkpoint: the newest confirmed one and later ones. */
  private final TreeMap<Long, Set<LogFile>> files = new TreeMap<>();

  private long confirmed = NONE;

  /**
   * Sets the files of the checkpoint that a backend was restored from. Its number is ignored: the
   * numbers of later checkpoints may start again, for example when a changelog is switched on.
   */
  public synchronized void restored(Collection<LogFile> itsFiles) {
    files.put(NONE, new HashSet<>(itsFiles));
  }

  /** The files that any new checkpoint may have, in the order of their addresses. */
  synchronized List<LogFile> usable() {
    Set<LogFile> usable = new HashSet<>(files.getOrDefault(confirmed, Set.of()));
    files.tailMap(confirmed, false).values().forEach(usable::retainAll);
    List<LogFile> ordered = new ArrayList<>(usable);
    ordered.sort((left, right) -> Long.compare(left.from(), right.from()));
    return ordered;
  }

  /** Notes the files of a checkpoint: first those that it builds on, then all. */
  synchronized void put(long checkpoint, Collection<LogFile> itsFiles) {
    if (checkpoint > confirmed) {
      files.put(checkpoint, new HashSet<>(itsFiles));
    }
  }

  /** Confirms a checkpoint. Savepoints are not known here, since nothing builds on them. */
  synchronized void confirm(long checkpoint) {
    if (checkpoint > confirmed && files.containsKey(checkpoint)) {
      confirmed = checkpoint;
      files.headMap(checkpoint).clear();
    }
  }

  /** Forgets a checkpoint that will never be complete. */
  synchronized void abort(long checkpoint) {
    if (checkpoint != confirmed) {
      files.remove(checkpoint);
    }
  }
}

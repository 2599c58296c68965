package io.fasterkv.flink.snapshot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which files the checkpoints consist of that may be built on. A checkpoint is built on the newest
 * one that is confirmed, and on those of its files only that all later ones have as well: one of
 * these may be complete, and the confirmed one gone with the files that only it had, before this
 * side hears of it. Safe for all threads.
 */
public final class UploadHistory {
  private static final long NONE = -1;

  /** By checkpoint: the newest confirmed one, and later ones. */
  private final TreeMap<Long, Set<LogFile>> files = new TreeMap<>();

  private long confirmed = NONE;

  /**
   * The files of the checkpoint that a backend was restored from. Its number is of no use: those
   * that follow may begin anew, as when a changelog is switched on.
   */
  public synchronized void restored(Collection<LogFile> itsFiles) {
    files.put(NONE, new HashSet<>(itsFiles));
  }

  /** The files that any checkpoint from now on may have, in the order of their addresses. */
  synchronized List<LogFile> usable() {
    Set<LogFile> usable = new HashSet<>(files.getOrDefault(confirmed, Set.of()));
    files.tailMap(confirmed, false).values().forEach(usable::retainAll);
    List<LogFile> ordered = new ArrayList<>(usable);
    ordered.sort((left, right) -> Long.compare(left.from(), right.from()));
    return ordered;
  }

  /** Notes the files of a checkpoint: first those that it is built on, then all. */
  synchronized void put(long checkpoint, Collection<LogFile> itsFiles) {
    if (checkpoint > confirmed) {
      files.put(checkpoint, new HashSet<>(itsFiles));
    }
  }

  /** A checkpoint is complete. Savepoints, which nothing is built on, are not known here. */
  synchronized void confirm(long checkpoint) {
    if (checkpoint > confirmed && files.containsKey(checkpoint)) {
      confirmed = checkpoint;
      files.headMap(checkpoint).clear();
    }
  }

  /** A checkpoint will never be complete. */
  synchronized void abort(long checkpoint) {
    if (checkpoint != confirmed) {
      files.remove(checkpoint);
    }
  }
}

package io.fasterkv.sim;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One directory of files in memory, with a journal of all changes. The journal determines what a
 * power failure may leave: a change to a file is durable once the file was forced, and a change to
 * the directory once the directory was forced. Of all other changes, any part may be left.
 *
 * <p>Safe for all threads.
 */
public final class SimulatedDisk {
  /** The name of the only directory in events and messages. */
  public static final String DIRECTORY = "/disk";

  /** A file's bytes; files are distinguished by identity. */
  static final class Inode {
    byte[] bytes = new byte[0];
    int size;

    void put(long position, byte[] source, int length) {
      int end = Math.toIntExact(position + length);
      if (end > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(end, bytes.length * 2));
      }
      System.arraycopy(source, 0, bytes, Math.toIntExact(position), length);
      size = Math.max(size, end);
    }

    Inode copy() {
      Inode copy = new Inode();
      copy.put(0, bytes, size);
      return copy;
    }
  }

  /** One step of the disk. */
  sealed interface Event {
    final class Write implements Event {
      private final Inode file;
      private final long position;
      private final byte[] bytes;

      Write(Inode file, long position, byte[] bytes) {
        this.file = file;
        this.position = position;
        this.bytes = bytes;
      }
    }

    record Force(Inode file) implements Event {}

    record Name(String name, Inode file) implements Event {}

    record Move(String from, String to, Inode file) implements Event {}

    record Delete(String name) implements Event {}

    record ForceDirectory() implements Event {}
  }

  private final Map<String, Inode> files = new TreeMap<>();

  /** The files at the start of the journal, with their contents. */
  private final Map<String, Inode> firstFiles = new TreeMap<>();

  private final Map<Inode, Inode> firstContents = new HashMap<>();
  private final List<Event> journal = new ArrayList<>();
  private final SimulatedFileSystem fileSystem = new SimulatedFileSystem(this);
  private volatile DiskFaults faults = DiskFaults.NONE;

  /** The directory, for use by a store. */
  public Path directory() {
    return fileSystem.getPath(DIRECTORY);
  }

  /** Makes {@code faults} decide about all later requests. */
  public void setFaults(DiskFaults faults) {
    this.faults = faults;
  }

  DiskFaults faults() {
    return faults;
  }

  /** The number of steps that the disk has taken. */
  public synchronized int steps() {
    return journal.size();
  }

  /** Describes the step at {@code index}, for messages. */
  public synchronized String describe(int index) {
    return journal.get(index).getClass().getSimpleName();
  }

  /** The names of all files. */
  public synchronized List<String> names() {
    return List.copyOf(files.keySet());
  }

  /** A copy of a file's bytes. */
  public synchronized byte[] content(String name) {
    Inode file = files.get(name);
    return Arrays.copyOf(file.bytes, file.size);
  }

  /** Adds a complete and durable file. */
  public synchronized void put(String name, byte[] content) {
    Inode file = new Inode();
    file.put(0, content, content.length);
    files.put(name, file);
    settle();
  }

  /** Makes all changes so far durable. */
  private void settle() {
    journal.clear();
    firstFiles.clear();
    firstContents.clear();
    firstFiles.putAll(files);
    files.values().forEach(file -> firstContents.put(file, file.copy()));
  }

  /** A disk with the same files, all of them durable. */
  public synchronized SimulatedDisk copy() {
    SimulatedDisk copy = new SimulatedDisk();
    files.keySet().forEach(name -> copy.put(name, content(name)));
    return copy;
  }

  /**
   * The disk that a power cut after {@code steps} steps leaves, if {@code fate} decides about each
   * step that was not durable by then.
   */
  public synchronized SimulatedDisk afterPowerCut(int steps, PowerCutFate fate) {
    boolean[] isSafe = safeSteps(steps);
    Map<Inode, Inode> survivors = new HashMap<>();
    SimulatedDisk left = new SimulatedDisk();
    firstContents.forEach((file, content) -> survivors.put(file, content.copy()));
    firstFiles.forEach((name, file) -> left.files.put(name, survivors.get(file)));
    for (int i = 0; i < steps; i++) {
      Event event = journal.get(i);
      if (event instanceof Event.Write write) {
        int bytes = write.bytes.length;
        int kept = isSafe[i] ? bytes : fate.bytesKept(i, write.position, bytes);
        if (kept > 0) {
          survivor(survivors, write.file).put(write.position, write.bytes, kept);
        }
      } else if (isSafe[i] || fate.isNameKept(i)) {
        left.rename(event, survivors);
      }
    }
    left.settle();
    return left;
  }

  private void rename(Event event, Map<Inode, Inode> survivors) {
    switch (event) {
      case Event.Name name -> files.put(name.name, survivor(survivors, name.file));
      case Event.Move move -> {
        files.remove(move.from);
        files.put(move.to, survivor(survivors, move.file));
      }
      case Event.Delete delete -> files.remove(delete.name);
      default -> {}
    }
  }

  private static Inode survivor(Map<Inode, Inode> survivors, Inode file) {
    return survivors.computeIfAbsent(file, anyFile -> new Inode());
  }

  private boolean[] safeSteps(int steps) {
    boolean[] isSafe = new boolean[steps];
    Map<Inode, Boolean> isForced = new HashMap<>();
    boolean isDirectoryForced = false;
    for (int i = steps - 1; i >= 0; i--) {
      switch (journal.get(i)) {
        case Event.Force force -> isForced.put(force.file, true);
        case Event.ForceDirectory force -> isDirectoryForced = true;
        case Event.Write write -> isSafe[i] = isForced.containsKey(write.file);
        default -> isSafe[i] = isDirectoryForced;
      }
    }
    return isSafe;
  }

  synchronized boolean exists(String name) {
    return files.containsKey(name);
  }

  synchronized Inode open(String name, boolean mayCreate) throws NoSuchFileException {
    Inode file = files.get(name);
    if (file == null) {
      if (!mayCreate) {
        throw new NoSuchFileException(DIRECTORY + "/" + name);
      }
      file = new Inode();
      files.put(name, file);
      journal.add(new Event.Name(name, file));
    }
    return file;
  }

  synchronized void write(Inode file, long position, byte[] bytes) {
    file.put(position, bytes, bytes.length);
    journal.add(new Event.Write(file, position, bytes));
  }

  /** Copies bytes to the target; returns their number, or -1 at the end of the file. */
  synchronized int read(Inode file, long position, byte[] target) {
    if (position >= file.size) {
      return -1;
    }
    int count = (int) Math.min(target.length, file.size - position);
    System.arraycopy(file.bytes, (int) position, target, 0, count);
    return count;
  }

  synchronized int size(Inode file) {
    return file.size;
  }

  synchronized void force(Inode file) {
    journal.add(new Event.Force(file));
  }

  synchronized void forceDirectory() {
    journal.add(new Event.ForceDirectory());
  }

  synchronized void move(String from, String to) throws IOException {
    Inode file = files.remove(from);
    if (file == null) {
      throw new NoSuchFileException(DIRECTORY + "/" + from);
    }
    files.put(to, file);
    journal.add(new Event.Move(from, to, file));
  }

  synchronized void delete(String name) throws IOException {
    if (files.remove(name) == null) {
      throw new NoSuchFileException(DIRECTORY + "/" + name);
    }
    journal.add(new Event.Delete(name));
  }
}

package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no checkpoint refers to a file that is deleted before the checkpoint completes. */
@Tag("seeds")
class UploadHistoryTest {
  private static final int EVENTS = 300;

  /** The tested history or a broken variant of it. */
  private interface History {
    List<LogFile> usable();

    void put(long checkpoint, Collection<LogFile> files);

    void confirm(long checkpoint);

    void abort(long checkpoint);
  }

  @Test
  void noCheckpointHasAFileThatWasDeleted() throws Throwable {
    Seeds.run(500, random -> assertThat(new Run(random, real()).breaks()).isFalse());
  }

  /** When a changelog is switched on, checkpoint numbers start from 1 again. */
  @Test
  void aRestoredCheckpointIsBuiltOnWhateverNumbersFollow() {
    UploadHistory history = new UploadHistory();
    history.restored(List.of(file(1), file(2)));
    assertThat(history.usable()).containsExactly(file(1), file(2));
    for (long checkpoint = 1; checkpoint < 4; checkpoint++) {
      List<LogFile> all = List.of(file(2), file(2 + checkpoint));
      history.put(checkpoint, all);
      history.confirm(checkpoint);
      assertThat(history.usable()).isEqualTo(all);
    }
  }

  private static LogFile file(long number) {
    return new LogFile(
        number, number + 1, new ByteStreamStateHandle("file-" + number, new byte[0]));
  }

  @Test
  void detectsAHistoryThatBuildsOnUnconfirmedCheckpoints() {
    assertThat(breaksAtAll(new Newest())).isTrue();
  }

  @Test
  void theSameTestCatchesAHistoryThatForgetsCheckpointsAfterTheConfirmedOne() {
    assertThat(breaksAtAll(new OnlyConfirmed())).isTrue();
  }

  private static boolean breaksAtAll(History broken) {
    for (int seed = 0; seed < 500; seed++) {
      if (new Run(new SplittableRandom(seed), broken).breaks()) {
        return true;
      }
    }
    return false;
  }

  private static History real() {
    UploadHistory history = new UploadHistory();
    return new History() {
      @Override
      public List<LogFile> usable() {
        return history.usable();
      }

      @Override
      public void put(long checkpoint, Collection<LogFile> files) {
        history.put(checkpoint, files);
      }

      @Override
      public void confirm(long checkpoint) {
        history.confirm(checkpoint);
      }

      @Override
      public void abort(long checkpoint) {
        history.abort(checkpoint);
      }
    };
  }

  /** Builds on the checkpoint that was taken last. */
  private static final class Newest implements History {
    private final TreeMap<Long, Collection<LogFile>> files = new TreeMap<>();

    @Override
    public List<LogFile> usable() {
      return files.isEmpty() ? List.of() : List.copyOf(files.lastEntry().getValue());
    }

    @Override
    public void put(long checkpoint, Collection<LogFile> itsFiles) {
      files.put(checkpoint, itsFiles);
    }

    @Override
    public void confirm(long checkpoint) {}

    @Override
    public void abort(long checkpoint) {
      files.remove(checkpoint);
    }
  }

  /** Builds on the last confirmed checkpoint, even if later ones have replaced its files. */
  private static final class OnlyConfirmed implements History {
    private final TreeMap<Long, Collection<LogFile>> files = new TreeMap<>();
    private long confirmed = -1;

    @Override
    public List<LogFile> usable() {
      return List.copyOf(files.getOrDefault(confirmed, List.of()));
    }

    @Override
    public void put(long checkpoint, Collection<LogFile> itsFiles) {
      files.put(checkpoint, itsFiles);
    }

    @Override
    public void confirm(long checkpoint) {
      confirmed = Math.max(confirmed, checkpoint);
    }

    @Override
    public void abort(long checkpoint) {}
  }

  /** A subtask, a JobManager, and messages between them that arrive late or get lost. */
  private static final class Run {
    private final SplittableRandom random;
    private final History history;

    /** For each existing file, the last checkpoint that contains it. */
    private final Map<LogFile, Long> lastUsed = new HashMap<>();

    /** The files that each checkpoint under way may use. */
    private final TreeMap<Long, List<LogFile>> writing = new TreeMap<>();

    private final TreeMap<Long, Set<LogFile>> acknowledged = new TreeMap<>();
    private final List<Runnable> messages = new ArrayList<>();
    private long nextCheckpoint = 1;
    private long nextFile;

    Run(SplittableRandom random, History history) {
      this.random = random;
      this.history = history;
    }

    boolean breaks() {
      for (int event = 0; event < EVENTS; event++) {
        switch (random.nextInt(5)) {
          case 0 -> start();
          case 1 -> {
            if (!writing.isEmpty() && !acknowledge()) {
              return true;
            }
          }
          case 2 -> complete();
          case 3 -> abort();
          default -> {
            if (!messages.isEmpty()) {
              messages.remove(random.nextInt(messages.size())).run();
            }
          }
        }
      }
      return false;
    }

    private void start() {
      long checkpoint = nextCheckpoint++;
      List<LogFile> usable = history.usable();
      history.put(checkpoint, usable);
      writing.put(checkpoint, usable);
    }

    /** Returns false if the checkpoint contains a file that no longer exists. */
    private boolean acknowledge() {
      long checkpoint = any(writing.keySet());
      Set<LogFile> files = new HashSet<>(writing.remove(checkpoint));
      if (!lastUsed.keySet().containsAll(files)) {
        return false;
      }
      long number = nextFile++;
      files.add(file(number));
      history.put(checkpoint, files);
      files.forEach(file -> lastUsed.merge(file, checkpoint, Math::max));
      acknowledged.put(checkpoint, files);
      return true;
    }

    private void complete() {
      if (acknowledged.isEmpty()) {
        return;
      }
      long checkpoint = any(acknowledged.keySet());
      acknowledged.headMap(checkpoint, true).clear();
      writing.headMap(checkpoint).clear();
      lastUsed.values().removeIf(last -> last < checkpoint);
      messages.add(() -> history.confirm(checkpoint));
    }

    private void abort() {
      if (acknowledged.isEmpty()) {
        return;
      }
      long checkpoint = any(acknowledged.keySet());
      acknowledged.remove(checkpoint);
      messages.add(() -> history.abort(checkpoint));
    }

    private long any(Set<Long> of) {
      return List.copyOf(of).get(random.nextInt(of.size()));
    }
  }
}

package io.fasterkv.demo;

import io.fasterkv.demo.screen.CheckpointRow;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.RestoredCheckpointStats;
import org.jspecify.annotations.Nullable;

/** Tracks all checkpoints of a run, over both of its jobs. For one thread. */
final class CheckpointWatch {
  private final Map<Long, CheckpointRow> rows = new TreeMap<>();
  private long newest;
  private long stateBytes;
  private long inFlight;
  private long restored;

  /** Reads the current state of {@code stage}. */
  void look(Stage stage) throws InterruptedException {
    CheckpointStatsSnapshot snapshot = stage.checkpoints();
    if (snapshot == null) {
      return;
    }
    inFlight = 0;
    for (AbstractCheckpointStats stats : snapshot.getHistory().getCheckpoints()) {
      if (stats.getStatus() == CheckpointStatsStatus.IN_PROGRESS) {
        inFlight = Math.max(inFlight, stats.getCheckpointId());
      } else {
        add(stats);
      }
    }
    RestoredCheckpointStats latest = snapshot.getLatestRestoredCheckpoint();
    restored = latest == null ? restored : latest.getCheckpointId();
  }

  private void add(AbstractCheckpointStats stats) {
    long id = stats.getCheckpointId();
    if (!rows.containsKey(id)) {
      rows.put(id, CheckpointRow.of(stats));
    }
    if (stats.getStatus() == CheckpointStatsStatus.COMPLETED && id > newest) {
      newest = id;
      stateBytes = stats.getStateSize();
    }
  }

  /** Returns the checkpoints that have ended, by id. */
  List<CheckpointRow> rows() {
    return List.copyOf(rows.values());
  }

  /** Returns the row of the newest savepoint, or null if there is none. */
  @Nullable CheckpointRow savepoint() {
    Collection<CheckpointRow> all = rows.values();
    return all.stream().filter(CheckpointRow::isSavepoint).reduce((a, b) -> b).orElse(null);
  }

  /** Returns the id of the newest completed checkpoint, 0 if there is none. */
  long newest() {
    return newest;
  }

  /** Returns the size of the state in {@link #newest()}, in bytes. */
  long stateBytes() {
    return stateBytes;
  }

  /** Returns the id of the checkpoint in progress, 0 if there is none. */
  long inFlight() {
    return inFlight;
  }

  /** Returns the id of the checkpoint that the job was last restored from, 0 if there is none. */
  long restored() {
    return restored;
  }
}

package io.fasterkv.flink.backend;

import static java.util.Map.entry;

import io.fasterkv.flink.DocumentedTable;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics that a backend registers are those in the documentation, and what they mean. */
class MetricsTableTest {
  private static final Map<String, String> MEANING =
      Map.ofEntries(
          entry("memoryBytes", "off-heap memory that the store has leased: its ceiling"),
          entry(
              "memoryUsedBytes",
              "how much of that it has taken: the sum of index, log, scratch and other"),
          entry("memoryIndexBytes", "the hash index"),
          entry("memoryLogBytes", "pages of the log"),
          entry("memoryScratchLentBytes", "buffers in use: sessions, scans, compaction"),
          entry("memoryScratchFreeBytes", "buffers that nobody uses now"),
          entry("memoryOtherBytes", "anything else"),
          entry("logBytes", "the log in memory and on disk, live and dead"),
          entry("logStoredBytes", "the log on disk; what a snapshot keeps is part of it"),
          entry(
              "logToCopyBytes",
              "after a restore: what is still read from the checkpoint, since it was not copied"
                  + " yet"),
          entry("logLiveBytes", "of `logBytes`, what is live at least, as far as compaction knows"),
          entry("logDeadBytes", "`logBytes` without `logLiveBytes`: what may be dead at most"),
          entry(
              "indexEntries",
              "one for each key and namespace of a state that has a value, and one for each piece"
                  + " of a large list or map, or of timers; fewer where hashes collide, more until"
                  + " compaction has come by what was removed"),
          entry("indexLoadPercent", "entries for 100 places in the index; above 70 it gets slower"),
          entry(
              "hitsMutable",
              "accesses that found their record in memory where it is updated in place, since the"
                  + " start"),
          entry(
              "hitsReadOnly",
              "those that found it in memory where an update copies it: it is old, or a checkpoint"
                  + " under way holds it"),
          entry("hitsDisk", "those that read it from disk"),
          entry(
              "recordsReadInMemory",
              "records that operations looked at in memory, since the start"),
          entry("recordsReadFromDisk", "records that operations read from disk, since the start"),
          entry("compactionPasses", "times that the begin of the log was moved"),
          entry("compactionMovedBytes", "live bytes that compaction has copied"),
          entry("compactionDroppedBytes", "dead bytes that compaction has given back"),
          entry(
              "compactionExpiredBytes",
              "bytes of records past their time to live, or left over from what was cleared, that"
                  + " compaction has left behind"),
          entry("snapshotsTaken", "snapshots that were written: checkpoints and native savepoints"),
          entry("snapshotsFailed", "those that failed, or were cancelled, while being written"),
          entry(
              "lastSnapshotSyncMicros",
              "how long the task waited for the latest snapshot: the synchronous phase"),
          entry(
              "lastSnapshotQueuedMillis",
              "how long the asynchronous phase of the latest then waited for a thread"),
          entry(
              "lastSnapshotAsyncMillis",
              "how long the asynchronous phase of the last that was written took"),
          entry("lastSnapshotBytes", "bytes uploaded for the last that was written"));

  @TempDir private Path directory;

  @Test
  void areInTheDocumentation() throws Exception {
    RecordedGauges gauges = new RecordedGauges();
    try (TestBackends backends = new TestBackends(TestSettings.ROOMY, directory)) {
      backends.reportTo(gauges);
      backends.open();
      List<String> lines = new ArrayList<>();
      lines.add("| metric | |");
      lines.add("| --- | --- |");
      for (String name : gauges.all().keySet()) {
        lines.add("| `" + name + "` | " + MEANING.getOrDefault(name, "not described") + " |");
      }
      DocumentedTable.check("metrics", lines);
    }
  }
}

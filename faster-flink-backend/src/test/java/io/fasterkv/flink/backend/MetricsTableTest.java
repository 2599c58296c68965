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

/** Tests that the documentation lists exactly the metrics of a backend. */
class MetricsTableTest {
  private static final Map<String, String> MEANING =
      Map.ofEntries(
          entry("memoryBytes", "off-heap memory that the store leases now: its limit"),
          entry("memoryMovedInBytes", "memory that the store has accepted from others of its slot"),
          entry("memoryMovedOutBytes", "memory that the store has released to others of its slot"),
          entry(
              "memoryUsedBytes", "leased memory in use: the sum of index, log, scratch and other"),
          entry("memoryIndexBytes", "memory of the hash index"),
          entry("memoryLogBytes", "memory of log pages"),
          entry("memoryScratchLentBytes", "scratch buffers in use: sessions, scans, compaction"),
          entry("memoryScratchFreeBytes", "scratch buffers that are free"),
          entry("memoryOtherBytes", "all other memory of the store"),
          entry("logBytes", "the log in memory and on disk, live and dead"),
          entry("logStoredBytes", "the log on disk, including what snapshots keep"),
          entry(
              "logToCopyBytes",
              "after a restore: bytes of the log that are not copied from the checkpoint yet"),
          entry(
              "logLiveBytes",
              "lower bound of the live part of `logBytes`, as far as" + " compaction knows"),
          entry("logDeadBytes", "`logBytes` minus `logLiveBytes`: upper bound of the dead part"),
          entry(
              "indexEntries",
              "one for each key and namespace of a state that has a value, and one for each"
                  + " piece of a large list or map, or of timers; fewer if hashes collide,"
                  + " more until compaction has processed removed records"),
          entry(
              "indexLoadPercent",
              "entries in use per 100 entries of the main buckets; overflow buckets can make it"
                  + " exceed 100; above 70 lookups get slower"),
          entry(
              "hitsMutable",
              "accesses since the start that found their record in memory and could update it"
                  + " in place"),
          entry(
              "hitsReadOnly",
              "accesses that found their record in memory where an update copies it: it is"
                  + " old, or a running checkpoint needs it"),
          entry("hitsDisk", "accesses that read their record from disk"),
          entry(
              "recordsReadInMemory", "records that operations have read in memory since the start"),
          entry(
              "recordsReadFromDisk",
              "records that operations have read from disk since the" + " start"),
          entry("compactionPasses", "how often the begin address of the log has moved"),
          entry("compactionMovedBytes", "live bytes that compaction has copied"),
          entry("compactionDroppedBytes", "dead bytes that compaction has freed"),
          entry(
              "compactionExpiredBytes",
              "bytes of expired records, and of leftovers of cleared state, that compaction"
                  + " has dropped"),
          entry("snapshotsTaken", "snapshots that were written: checkpoints and native savepoints"),
          entry(
              "snapshotsFailed",
              "snapshots that failed or were cancelled while they were" + " written"),
          entry(
              "lastSnapshotSyncMicros",
              "how long the task waited for the latest snapshot: its synchronous phase"),
          entry(
              "lastSnapshotQueuedMillis",
              "how long the asynchronous phase of the latest snapshot waited for a thread"),
          entry(
              "lastSnapshotAsyncMillis",
              "duration of the asynchronous phase of the last snapshot that was written"),
          entry("lastSnapshotBytes", "bytes uploaded for the last snapshot that was written"));

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

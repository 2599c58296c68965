package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.Identities;
import io.fasterkv.flink.state.RegisteredState;
import java.io.IOException;
import java.util.Collections;
import org.apache.flink.util.IOUtils;

/**
 * The entries of one state as they are when the scan starts; changes that are made meanwhile do not
 * show in it. For the task thread.
 */
public final class StateScan implements AutoCloseable {
  private final RecordSorter sorter;
  private final SortedRecords sorted;
  private final SavepointEntries entries;

  private StateScan(RecordSorter sorter, SortedRecords sorted, SavepointEntries entries) {
    this.sorter = sorter;
    this.sorted = sorted;
    this.entries = entries;
  }

  /** Reads the whole log once. */
  public static StateScan of(
      LocalStore local, KeySpace<?> keys, Identities identities, RegisteredState<?, ?> state)
      throws IOException {
    RecordSorter sorter =
        new RecordSorter(local.directory(), local.sortBufferBytes(), new Cancellation());
    try (LogCut cut = local.store().cut()) {
      CutSort.sort(local, cut, sorter, key -> CutSort.state(key) == state.id());
      StateExport export = StateExport.whole(state, keys, identities);
      SortedRecords sorted = sorter.sorted();
      return new StateScan(
          sorter,
          sorted,
          new SavepointEntries(
              sorted, Collections.nCopies(state.id() + 1, export), keys.savepointPrefixBytes()));
    } catch (IOException | RuntimeException failure) {
      IOUtils.closeQuietly(sorter);
      throw failure;
    }
  }

  /** The entries, none of them filtered. */
  public SavepointEntries entries() {
    return entries;
  }

  @Override
  public void close() {
    IOUtils.closeAllQuietly(sorted, sorter);
  }
}

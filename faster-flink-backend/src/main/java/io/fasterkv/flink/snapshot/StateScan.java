package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.state.RegisteredState;
import java.io.IOException;
import java.util.Collections;
import org.apache.flink.util.IOUtils;

/**
 * Reads the entries of one state as they are when the scan starts; it does not show later changes.
 * For the task thread.
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

  /** Starts a scan; reads the whole log once. */
  public static StateScan of(
      LocalStore local,
      KeySpace<?> keys,
      ValueIncarnations incarnations,
      RegisteredState<?, ?> state)
      throws IOException {
    RecordSorter sorter =
        new RecordSorter(
            local.directory(), local.sortBufferBytes(), new Cancellation(), local.logger());
    try (LogCut cut = local.store().log().cut()) {
      CutSort.sort(local, cut, sorter, key -> CutSort.state(key) == state.id());
      StateExport export = StateExport.whole(state, keys, incarnations);
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

  /** The entries, unfiltered. */
  public SavepointEntries entries() {
    return entries;
  }

  @Override
  public void close() {
    IOUtils.closeAllQuietly(sorted, sorter);
  }
}

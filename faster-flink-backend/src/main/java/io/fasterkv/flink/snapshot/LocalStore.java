package io.fasterkv.flink.snapshot;

import io.fasterkv.FasterStore;
import java.nio.file.Path;
import org.apache.flink.util.ResourceGuard;

/**
 * The store of one operator's subtask and its local means. Safe for use by all threads.
 *
 * @param store the store
 * @param directory where sort files are put; removed with the store
 * @param sortBufferBytes heap that one snapshot or listing sorts with
 * @param guard keeps the store open while it is held
 */
public record LocalStore(
    FasterStore store, Path directory, int sortBufferBytes, ResourceGuard guard) {}

package io.fasterkv.flink.restore;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.RecordCopies;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StreamPool;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Inserts the records of a checkpoint's log into a store, oldest first, in a sequential read. */
final class RecordInsert implements AutoCloseable {
  private final RecordCopies copies;
  private final KeyGroupRange own;
  private final RestoreScope scope;
  private final StreamPool streams;
  private final InsertProgress progress;

  RecordInsert(
      FasterStore store,
      KeyGroupRange own,
      RestoreScope scope,
      OpenStreams streams,
      InsertProgress progress) {
    copies = new RecordCopies(store);
    this.own = own;
    this.scope = scope;
    this.streams = new StreamPool(streams, 1);
    this.progress = progress;
  }

  /**
   * Inserts the records of the key groups that belong to both the source and the subtask.
   *
   * @param from the store already has the source's records below this address
   * @param stateIds maps the source's state numbers to the store's
   */
  void insert(IncrementalSource source, long from, int[] stateIds) throws IOException {
    KeyGroupRange wanted = source.range().getIntersection(own);
    StoreImport.Records records = source.log().records();
    try {
      source.read(
          from,
          scope,
          streams,
          (piece, bytes, place) -> {
            records.read(
                piece,
                bytes,
                place,
                (key, value, isTombstone) -> {
                  if (wanted.contains(KeyLayout.keyGroup(key))) {
                    insert(renumbered(key, stateIds, place), value, isTombstone);
                  }
                });
            progress.passed(Math.max(0, piece.until() - Math.max(from, piece.from())));
          });
    } catch (UncheckedIOException failure) {
      throw new IOException(
          "a record of a checkpoint was not put into the store: " + failure.getMessage(), failure);
    }
  }

  private static ByteSpan renumbered(ByteSpan key, int[] stateIds, String place) {
    byte[] bytes = key.toArray();
    int state = KeyLayout.state(bytes, 0);
    if (state >= stateIds.length) {
      throw new UncheckedIOException(
          new IOException(
              "a record is of a state that its checkpoint does not have: state="
                  + state
                  + ", allowed=up to "
                  + (stateIds.length - 1)
                  + ", "
                  + place));
    }
    KeyLayout.putState(bytes, stateIds[state]);
    return ByteSpan.of(bytes);
  }

  private void insert(ByteSpan key, ByteSpan value, boolean isTombstone) {
    if (isTombstone) {
      copies.delete(key);
      progress.add(key.length());
    } else {
      copies.put(key, value);
      progress.add(key.length() + value.length());
    }
  }

  @Override
  public void close() {
    copies.close();
  }
}

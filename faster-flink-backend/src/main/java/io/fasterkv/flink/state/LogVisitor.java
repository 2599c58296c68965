package io.fasterkv.flink.state;

import io.fasterkv.FasterStore;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.Versions;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;
import org.jspecify.annotations.Nullable;

/**
 * Visits a state in the order of the log, from its begin to where its tail was at the start, a few
 * pages at a time. Each key and namespace is visited with its current value, once or in several
 * parts. A value that moves in the log meanwhile may be missed. For the task thread.
 */
final class LogVisitor<K, N, V> implements StateIncrementalVisitor<K, N, V> {
  /** Maximum number of pages that one call reads to find an entry, if they are paid for. */
  private static final int PAGES = 16;

  /** Bytes of log that each access pays for. */
  private static final int BYTES_PER_ACCESS = 4 << 10;

  private final FasterStore store;
  private final AbstractFasterState<K, N, V> state;
  private final Deque<ByteSpan> heads = new ArrayDeque<>();
  private final long end;
  private long next;
  private CompositeKey key = new CompositeKey();
  private Iterator<V> parts = Collections.emptyIterator();

  LogVisitor(FasterStore store, AbstractFasterState<K, N, V> state) {
    this.store = store;
    this.state = state;
    next = store.log().beginAddress();
    end = store.log().tailAddress();
  }

  @Override
  public boolean hasNext() {
    return parts.hasNext() || !heads.isEmpty() || next < end;
  }

  /** Returns one entry, or none if the pages it has read have none. */
  @Override
  public Collection<StateEntry<K, N, V>> nextEntries() {
    for (int page = 0; page < PAGES; ) {
      if (parts.hasNext()) {
        return List.of(new Visited<>(state, key, parts.next()));
      }
      ByteSpan head = heads.poll();
      if (head != null) {
        key = new CompositeKey();
        parts =
            state.context.records().select(head, key)
                ? state.parts(key)
                : Collections.emptyIterator();
      } else if (next < end && state.visitDebt <= 0) {
        loadPage();
        page++;
      } else {
        state.visitDebt -= BYTES_PER_ACCESS;
        break;
      }
    }
    return List.of();
  }

  private void loadPage() {
    long until =
        Math.min(end, Math.max(next, store.log().beginAddress()) + store.config().pageBytes());
    try (LogScan scan = store.log().scan(next, until, Versions.LIVE)) {
      while (scan.next()) {
        ByteSpan found = scan.key();
        if (KeyLayout.state(found) == state.registered.id()
            && KeyLayout.sub(found) == 0
            && !LongKeyLayout.isOfKeyRecord(found)) {
          heads.add(ByteSpan.of(found.toArray()));
        }
      }
    } catch (OutOfBudget scratchIsLent) {
      // Skips these pages; the state's next visit reads them.
    }
    state.visitDebt += until - next;
    next = until;
  }

  @Override
  public void remove(StateEntry<K, N, V> entry) {
    Visited<K, N, V> visited = (Visited<K, N, V>) entry;
    state.replacePart(visited.key, visited.part, null);
  }

  @Override
  public void update(StateEntry<K, N, V> entry, V newValue) {
    Visited<K, N, V> visited = (Visited<K, N, V>) entry;
    state.replacePart(visited.key, visited.part, newValue);
  }

  /** A value of the state for a key and namespace, or a part of it. */
  private static final class Visited<K, N, V> implements StateEntry<K, N, V> {
    private final AbstractFasterState<K, N, V> state;
    private final CompositeKey key;
    private final V part;

    Visited(AbstractFasterState<K, N, V> state, CompositeKey key, V part) {
      this.state = state;
      this.key = key;
      this.part = part;
    }

    @Override
    public @Nullable K getKey() {
      return state.keyOf(key);
    }

    @Override
    public @Nullable N getNamespace() {
      return state.namespaceOf(key);
    }

    @Override
    public V getState() {
      return part;
    }
  }
}

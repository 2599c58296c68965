package io.fasterkv.flink.state;

import io.fasterkv.FasterStore;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.Versions;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
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
 * Visits a state in the order of the log, from its begin to where its tail was at the start, some
 * pages at a time. Each key and namespace comes once, or in several parts, as it is then; what
 * moves in the log meanwhile may be missed. For the task thread.
 */
final class LogVisitor<K, N, V> implements StateIncrementalVisitor<K, N, V> {
  /** So many pages are looked at until there is something to visit, if they are paid for. */
  private static final int PAGES = 16;

  /** Each access pays for so many bytes of log. */
  private static final int BYTES_PER_ACCESS = 4 << 10;

  private final FasterStore store;
  private final AbstractFasterState<K, N, V> state;
  private final Deque<byte[]> prefixes = new ArrayDeque<>();
  private final long end;
  private long next;
  private CompositeKey key = new CompositeKey();
  private Iterator<V> parts = Collections.emptyIterator();

  LogVisitor(FasterStore store, AbstractFasterState<K, N, V> state) {
    this.store = store;
    this.state = state;
    next = store.beginAddress();
    end = store.tailAddress();
  }

  @Override
  public boolean hasNext() {
    return parts.hasNext() || !prefixes.isEmpty() || next < end;
  }

  /** One entry; none if the pages that it has looked at have none. */
  @Override
  public Collection<StateEntry<K, N, V>> nextEntries() {
    for (int page = 0; page < PAGES; ) {
      if (parts.hasNext()) {
        return List.of(new Visited<>(state, key, parts.next()));
      }
      byte[] prefix = prefixes.poll();
      if (prefix != null) {
        key = new CompositeKey().setPrefix(prefix, 0, prefix.length);
        parts = state.parts(key);
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
    long until = Math.min(end, Math.max(next, store.beginAddress()) + store.config().pageBytes());
    try (LogScan scan = store.scan(next, until, Versions.LIVE)) {
      while (scan.next()) {
        ByteSpan found = scan.key();
        if (KeyLayout.state(found) == state.registered.id() && KeyLayout.sub(found) == 0) {
          byte[] bytes = new byte[found.length() - KeyLayout.SUB_BYTES];
          found.copyTo(0, bytes, 0, bytes.length);
          prefixes.add(bytes);
        }
      }
    } catch (OutOfBudget scratchIsLent) {
      // These pages come by again when the state is visited next.
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

  /** What the state holds for a key and namespace, or a part of it. */
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

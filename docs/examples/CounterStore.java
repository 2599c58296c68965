// After a build, with a JDK 25:
// java -cp faster-core/target/classes docs/examples/CounterStore.java
// The store is in a new temporary directory, or in the empty directory that an argument names.
import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Counts page views from several threads, then takes a checkpoint and recovers it. */
public final class CounterStore {
  private static final int THREADS = 2;
  private static final int PAGES = 1_000;
  private static final int VIEWS = 100_000;

  private CounterStore() {}

  public static void main(String[] args) throws Exception {
    Path directory = args.length == 0 ? Files.createTempDirectory("counters") : Path.of(args[0]);
    StoreConfig config =
        StoreConfig.builder(directory).memoryBytes(16 << 20).recordKind(RecordKind.LONGS).build();
    try (FasterStore store = FasterStore.open(config)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        threads.add(Thread.ofPlatform().start(() -> count(store)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long page = 0; page < PAGES; page++) {
        Status status = session.read(page, null);
        if (status != Status.FOUND || session.value() != THREADS * VIEWS / PAGES) {
          throw new IllegalStateException("a count is wrong: page=" + page + ", status=" + status);
        }
      }
      System.out.println("recovered " + PAGES + " counters");
    }
  }

  /** Each thread has a session of its own. */
  private static void count(FasterStore store) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long view = 0; view < VIEWS; view++) {
        session.rmw(view % PAGES, 1, null);
      }
    }
  }
}

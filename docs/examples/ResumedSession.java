// After a build, with a JDK 25:
// java -cp faster-core/target/classes docs/examples/ResumedSession.java
// The store is in a new temporary directory, or in the empty directory that an argument names.
import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A session that survives a crash: operations are numbered from 1, and after recovery the session
 * says how many of them the checkpoint has. The source sends the rest again.
 */
public final class ResumedSession {
  private static final long KEY = 7;
  private static final int OPERATIONS = 1_000;

  private ResumedSession() {}

  public static void main(String[] args) throws IOException {
    Path directory = args.length == 0 ? Files.createTempDirectory("orders") : Path.of(args[0]);
    StoreConfig config =
        StoreConfig.builder(directory).memoryBytes(16 << 20).recordKind(RecordKind.LONGS).build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> orders =
            store
                .newSession()
                .identity(SessionIdentity.start("orders"))
                .longs(LongFunctions.sum())) {
      send(orders, 1, OPERATIONS / 2);
      store.checkpoints().take(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
      send(orders, OPERATIONS / 2 + 1, OPERATIONS);
      // The store is closed without another checkpoint, as in a crash.
    }
    try (FasterStore store = FasterStore.recover(config);
        LongSession<Void> orders =
            store
                .newSession()
                .identity(SessionIdentity.resume("orders"))
                .longs(LongFunctions.sum())) {
      System.out.println("durable up to operation " + orders.serial());
      send(orders, orders.serial() + 1, OPERATIONS);
      orders.read(KEY, null);
      if (orders.value() != OPERATIONS) {
        throw new IllegalStateException("an operation was lost or doubled: " + orders.value());
      }
    }
  }

  private static void send(LongSession<Void> orders, long from, long to) {
    for (long operation = from; operation <= to; operation++) {
      orders.rmw(KEY, 1, null);
    }
  }
}

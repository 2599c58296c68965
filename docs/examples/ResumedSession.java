import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import java.nio.file.Path;

/**
 * A session that survives a crash: operations are numbered from 1, and after recovery the session
 * says how many of them the checkpoint has. The source sends the rest again.
 */
public final class ResumedSession {
  private static final long KEY = 7;
  private static final int OPERATIONS = 1_000;

  private ResumedSession() {}

  /**
   * @param args the directory of the store, empty or missing
   */
  public static void main(String[] args) {
    StoreConfig config =
        StoreConfig.builder(Path.of(args[0]))
            .memoryBytes(16 << 20)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> orders =
            store.newLongSession(
                SessionIdentity.start("orders"), LongFunctions.sum(), SessionMode.BLOCKING)) {
      send(orders, 1, OPERATIONS / 2);
      store.checkpoint(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
      send(orders, OPERATIONS / 2 + 1, OPERATIONS);
      // The store is closed without another checkpoint, as in a crash.
    }
    try (FasterStore store = FasterStore.recover(config);
        LongSession<Void> orders =
            store.newLongSession(
                SessionIdentity.resume("orders"), LongFunctions.sum(), SessionMode.BLOCKING)) {
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

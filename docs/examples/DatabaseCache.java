// After a build, with a JDK 25:
// java -cp faster-core/target/classes docs/examples/DatabaseCache.java
// The store is in a new temporary directory, or in the empty directory that an argument names.
import io.fasterkv.FasterStore;
import io.fasterkv.StringSession;
import io.fasterkv.api.config.StoreConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/** A cache over a database: a miss asks the database and keeps the answer, in memory or on disk. */
public final class DatabaseCache {
  private DatabaseCache() {}

  private static String get(StringSession cache, String key, UnaryOperator<String> database) {
    String found = cache.get(key);
    if (found != null) {
      return found;
    }
    String value = database.apply(key);
    cache.put(key, value);
    return value;
  }

  public static void main(String[] args) throws IOException {
    Path directory = args.length == 0 ? Files.createTempDirectory("cache") : Path.of(args[0]);
    StoreConfig config = StoreConfig.builder(directory).memoryBytes(16 << 20).build();
    int[] asked = {0};
    try (FasterStore store = FasterStore.open(config);
        StringSession cache = store.newSession().strings()) {
      for (int i = 0; i < 2_000; i++) {
        get(cache, "name-" + i % 1_000, key -> "row " + key + asked[0]++);
      }
    }
    System.out.println("the database was asked " + asked[0] + " times");
    if (asked[0] != 1_000) {
      throw new IllegalStateException("a value was not found: asked=" + asked[0]);
    }
  }
}

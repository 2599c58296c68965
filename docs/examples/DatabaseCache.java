import static java.nio.charset.StandardCharsets.UTF_8;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreFunctions;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/** A cache over a database: a miss asks the database and keeps the answer, in memory or on disk. */
public final class DatabaseCache {

  /** A read copies the value; an RMW replaces it. */
  private static final class Replace implements StoreFunctions<byte[], byte[][], Void> {
    @Override
    public void singleReader(ByteSpan key, byte[] input, ByteSpan value, byte[][] output) {
      output[0] = value.toArray();
    }

    @Override
    public int initialBytes(ByteSpan key, byte[] input) {
      return input.length;
    }

    @Override
    public void initialUpdater(ByteSpan key, byte[] input, ByteSpan value) {
      value.setTo(ByteSpan.of(input));
    }

    @Override
    public boolean inPlaceUpdater(ByteSpan key, byte[] input, ByteSpan value) {
      return concurrentWriter(key, ByteSpan.of(input), value);
    }

    @Override
    public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
      return input.length;
    }

    @Override
    public void copyUpdater(ByteSpan key, byte[] input, ByteSpan oldValue, ByteSpan newValue) {
      newValue.setTo(ByteSpan.of(input));
    }
  }

  private static String get(
      Session<byte[], byte[][], Void> cache, String key, UnaryOperator<String> database) {
    ByteSpan span = ByteSpan.of(key.getBytes(UTF_8));
    byte[][] found = new byte[1][];
    if (cache.read(span, null, found, null) == Status.FOUND) {
      return new String(found[0], UTF_8);
    }
    String value = database.apply(key);
    cache.upsert(span, ByteSpan.of(value.getBytes(UTF_8)), null);
    return value;
  }

  public static void main(String[] args) {
    StoreConfig config = StoreConfig.builder(Path.of(args[0])).memoryBytes(16 << 20).build();
    int[] asked = {0};
    try (FasterStore store = FasterStore.open(config);
        var cache = store.newSession(new Replace(), SessionMode.BLOCKING)) {
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

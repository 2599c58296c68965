package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that a store logs to the logger in its settings and to no other. */
class StoreLoggerTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 8 * PAGE_BYTES / 24;

  private final Logger platform = Logger.getLogger("io.fasterkv");
  private final Platform records = new Platform();
  private final AtomicBoolean isFull = new AtomicBoolean();
  private final SimulatedDisk disk = new SimulatedDisk();

  /** Collects the records that reach the JDK's own logging. */
  private static final class Platform extends Handler {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord record) {
      lines.add(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void listen() {
    platform.addHandler(records);
  }

  @AfterEach
  void stopListening() {
    platform.removeHandler(records);
  }

  private StoreConfigBuilder config(SimulatedDisk disk) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .logMemoryBytes(4 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(1 << 14)
        .recordKind(RecordKind.LONGS);
  }

  /** Writes more than memory holds, while the disk refuses the first write. */
  private void fillUp(StoreConfig config) {
    isFull.set(true);
    disk.setFaults(
        new DiskFaults() {
          @Override
          public int beforeWrite(String file, long position, int bytes) throws IOException {
            if (isFull.getAndSet(false)) {
              throw new IOException("No space left on device");
            }
            return bytes;
          }
        });
    write(config);
  }

  private static void write(StoreConfig config) {
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  @Test
  void aGivenLoggerReceivesTheLinesOfItsStoreAndNoOther() {
    Lines own = new Lines();
    Lines others = new Lines();
    fillUp(config(disk).logger(own).build());
    write(config(new SimulatedDisk()).logger(others).build());
    assertThat(own.count("WARNING the disk is full; ")).isPositive();
    assertThat(own.count("INFO the disk has space again: ")).isPositive();
    assertThat(others.count("WARNING ")).isZero();
    assertThat(records.lines).isEmpty();
  }

  @Test
  void withoutALoggerTheLinesGoToThatOfThePlatform() {
    fillUp(config(disk).build());
    assertThat(records.lines).anyMatch(line -> line.startsWith("the disk is full; "));
  }
}

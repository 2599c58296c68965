package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.operation.core.Engine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests cuts, scans, histories and followers that became unreachable without being closed. */
@Tag("long")
class ForgottenReaderTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 2000;
  private static final int COLLECTIONS = 300;

  @TempDir Path directory;

  private FasterStore store;

  @BeforeEach
  void open() {
    store =
        FasterStore.open(
            StoreConfig.builder(directory)
                .memoryBytes(1 << 20)
                .logMemoryBytes(4L * PAGE_BYTES)
                .pageBytes(PAGE_BYTES)
                .indexBytes(64 << 10)
                .recordKind(RecordKind.LONGS)
                .maxSessions(4)
                .build(),
            new MemoryDevice());
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  private LongSession<Void> session() {
    return store.newSession().longs(LongFunctions.sum());
  }

  /** The state of a reader when it becomes unreachable. */
  private static final List<Consumer<FasterStore>> READERS =
      List.of(
          store -> store.log().cut(),
          store -> store.log().cut().scan().next(),
          store -> store.log().scan(Versions.ALL),
          store -> store.log().scan(Versions.LIVE).next(),
          store -> store.log().history(1).next(),
          store -> store.log().follow(store.log().beginAddress()).next());

  @Test
  void giveTheLogAndTheirMemoryBack() {
    BufferPool buffers = Insides.engine(store).buffers();
    long free = buffers.freeBytes();
    for (Consumer<FasterStore> reader : READERS) {
      reader.accept(store);
      store.log().compact();
      long begin = store.log().beginAddress();
      await(() -> stored().log().pins().storedFrom() >= begin && buffers.freeBytes() == free);
      write();
    }
    store.close();
  }

  /** One of many garbage collections finds the unreachable object. */
  private static void await(BooleanSupplier isGivenBack) {
    for (int i = 0; i < COLLECTIONS && !isGivenBack.getAsBoolean(); i++) {
      System.gc();
      Thread.yield();
    }
    assertThat(isGivenBack.getAsBoolean()).isTrue();
  }

  private Engine stored() {
    return Insides.engine(store);
  }

  /** Writes records for compaction to drop. */
  private void write() {
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, 1, null);
      }
    }
    store.log().cut().close();
  }

  @Test
  void giveTheirPlacesBack() {
    BufferPool buffers = stored().buffers();
    long free = buffers.freeBytes();
    for (int i = 0; i < 3 * StoreParts.epochSlots(store.config()); i++) {
      READERS.get(i % READERS.size()).accept(store);
      await(() -> buffers.freeBytes() == free);
    }
    store.close();
  }

  /** A cut lives as long as a scan of it. */
  @Test
  void aScanKeepsItsCut() {
    LogScan scan = store.log().cut().scan();
    System.gc();
    store.log().compact();
    long keys = 0;
    while (scan.next()) {
      keys++;
      if (keys % 100 == 0) {
        System.gc();
        assertThat(stored().log().pins().storedFrom()).isLessThanOrEqualTo(scan.address());
      }
    }
    assertThat(keys).isEqualTo(KEYS);
    scan.close();
    store.close();
  }

  @Test
  void mayBeForgottenAfterTheStoreIsClosed() {
    BufferPool buffers = stored().buffers();
    long free = buffers.freeBytes();
    READERS.forEach(reader -> reader.accept(store));
    store.close();
    await(() -> buffers.freeBytes() == free);
  }

  /** A reader that finds no free epoch slot leaves nothing behind. */
  @Test
  void areRefusedWithoutALossWhenTheirPlacesAreTaken() {
    BufferPool buffers = stored().buffers();
    List<AutoCloseable> places = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                places.add(stored().epochs().register());
              }
            })
        .isInstanceOf(OutOfBudget.class);
    long free = buffers.freeBytes();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(store.log()::compact).isInstanceOf(OutOfBudget.class);
      assertThatThrownBy(() -> store.log().history(1)).isInstanceOf(OutOfBudget.class);
      assertThatThrownBy(() -> store.log().scan(Versions.LIVE)).isInstanceOf(OutOfBudget.class);
      assertThat(buffers.freeBytes()).isEqualTo(free);
    }
    assertThat(places).isNotEmpty();
    store.close();
  }
}

package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that the thread that turns a page continues on the new page, unless no thread may. */
class PageTurnTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 32;

  /** One record fits a page. */
  private static final long RECORD = PAGE / 2 + 8;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20));
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final Epochs epochs = new Epochs(2, failure);
  private final MemoryDevice device = new MemoryDevice();
  private final HybridLog log =
      new HybridLog(
          StoreConfig.builder(Path.of("nowhere"))
              .memoryBytes(1 << 20)
              .logMemoryBytes((long) PAGES * PAGE)
              .pageBytes(PAGE)
              .build(),
          arena,
          epochs,
          device,
          LogPosition.start(),
          failure);
  private final EpochUser user = epochs.register();

  @AfterEach
  void close() throws IOException {
    user.close();
    log.close();
    device.close();
    arena.close();
  }

  private long allocate() {
    long address = log.allocate(RECORD);
    if (address != HybridLog.RETRY) {
      Words.storeRelease(log.memory(), log.offset(address), RecordInfo.padding(RECORD));
    }
    return address;
  }

  @Test
  void retriesOnlyWithoutAFreeFrame() {
    user.protect();
    for (int page = 0; page < PAGES; page++) {
      assertThat(allocate() / PAGE).isEqualTo(page);
    }
    assertThat(allocate()).as("its own epoch pins the frames").isEqualTo(HybridLog.RETRY);
    user.unprotect();
    log.assist();
    user.protect();
    assertThat(allocate() / PAGE).isEqualTo(PAGES);
    user.unprotect();
  }

  @Test
  void takesNothingOfAPageThatIsTooFarFromTheBegin() {
    log.tailLimit().setLimit(() -> PAGE / 2);
    log.tailLimit().allow(PAGE / 2);
    user.protect();
    assertThat(allocate()).isLessThan(PAGE);
    assertThat(allocate()).isEqualTo(HybridLog.RETRY);
    assertThat(log.allocateUpTo(8, RECORD)).isEqualTo(HybridLog.RETRY);
    assertThat(log.tailAddress()).as("the new page is empty").isEqualTo(PAGE);
    log.tailLimit().allow(2 * PAGE);
    assertThat(allocate()).isEqualTo(PAGE);
    user.unprotect();
  }
}

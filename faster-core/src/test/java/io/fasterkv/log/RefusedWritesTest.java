package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests when an operation without room gives up because of refused writes. */
class RefusedWritesTest {
  private static final long PAGE = 4096;
  private static final NoSpaceException FULL = new NoSpaceException(new IOException("test"));

  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final MemoryDevice device = new MemoryDevice();
  private final RefusedWrites refused = new RefusedWrites(device, failure, (from, until) -> {});

  @AfterEach
  void close() throws Exception {
    refused.close();
    device.close();
  }

  /** Writes run beside each other, so a later page may be refused while an earlier one succeeds. */
  @Test
  void aRefusedWriteOfALaterPageDoesNotEndTheWaitForAnEarlierOne() {
    refused.add(2 * PAGE, 3 * PAGE, FULL);
    refused.roomWanted(PAGE);
    refused.roomWanted(2 * PAGE);
    assertThat(failure.isSet()).isFalse();
    refused.roomWanted(2 * PAGE + 1);
    assertThat(failure.isSet()).isTrue();
  }

  @Test
  void aWriteThatIsTriedAgainStillCounts() {
    refused.add(0, PAGE, FULL);
    refused.tryNow();
    while (refused.isRefused(PAGE, 0)) {
      Thread.onSpinWait();
    }
    refused.roomWanted(PAGE);
    assertThat(failure.isSet()).isTrue();
  }
}

package io.fasterkv.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompletedReadsTest {
  private final MemorySegment target = MemorySegment.ofArray(new byte[8]);
  private final List<Runnable> completions = new ArrayList<>();
  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());
  private final CompletedReads reads = new CompletedReads(device);

  @Test
  void readsEndInTheOrderOfTheirReports() {
    keepCompletions();
    for (int tag = 0; tag < 4; tag++) {
      reads.read(tag, 0, target);
    }
    assertThat(reads.next(false)).isEqualTo(ReadQueue.NONE);
    for (int tag : List.of(2, 0, 3, 1)) {
      completions.get(tag).run();
      completions.get(tag).run();
    }
    assertThat(List.of(reads.next(true), reads.next(true), reads.next(false), reads.next(true)))
        .containsExactly(2, 0, 3, 1);
    assertThat(reads.next(true)).isEqualTo(ReadQueue.NONE);
  }

  /** The queue must not wait for the end of that read. */
  @Test
  void aReadThatADeviceThrowsAtIsNeverWaitedFor() {
    AssertionError thrown = new AssertionError("on purpose");
    device.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeRead(long address, long bytes) {
            throw thrown;
          }
        });
    reads.read(3, 0, target);
    assertThat(reads.next(true)).isEqualTo(3);
    assertThat(reads.failure()).isInstanceOf(IOException.class).hasCause(thrown);
    reads.close();
  }

  @Test
  void aWaitEndsWhenAReadHas() throws InterruptedException {
    keepCompletions();
    reads.read(5, 0, target);
    Thread device = Thread.ofPlatform().unstarted(completions.getFirst());
    device.start();
    assertThat(reads.next(true)).isEqualTo(5);
    device.join();
  }

  private void keepCompletions() {
    device.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void complete(Runnable completion) {
            completions.add(completion);
          }
        });
  }
}

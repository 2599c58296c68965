package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class OffHeapArenaTest {
  private static final long BYTES = 4096;

  /**
   * The owner of a part closes it while another thread, which creates a part, looks for failures.
   */
  @Test
  void partsAreMadeAndClosedByTwoThreads() throws Exception {
    MemoryBudget budget = new MemoryBudget(1 << 20);
    CyclicBarrier start = new CyclicBarrier(2);
    try (OffHeapArena whole = new OffHeapArena(budget);
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Callable<Void> user =
          () -> {
            start.await();
            for (int i = 0; i < 2_000; i++) {
              OffHeapArena part = whole.part();
              part.allocate("test", BYTES, Long.BYTES);
              part.close();
            }
            return null;
          };
      Future<Void> other = threads.submit(user);
      threads.submit(user).get();
      other.get();
      assertThat(budget.usedBytes()).isZero();
    }
  }

  /** A pending read keeps the memory of a part alive, so that closing the part fails. */
  @Test
  void aPartWhoseCloseFailedIsClosedBeforeAnotherIsMade() throws Exception {
    MemoryBudget budget = new MemoryBudget(1 << 20);
    OffHeapArena whole = new OffHeapArena(budget);
    try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open();
        AsynchronousSocketChannel reader = AsynchronousSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Future<AsynchronousSocketChannel> accepted = server.accept();
      reader.connect(server.getLocalAddress()).get();
      OffHeapArena part = whole.part();
      MemorySegment memory = part.allocate("test", BYTES, Long.BYTES);
      Future<Integer> read = reader.read(memory.asByteBuffer());
      assertThatThrownBy(part::close).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(whole::part).isInstanceOf(IllegalStateException.class);
      assertThat(memory.scope().isAlive()).isTrue();
      try (AsynchronousSocketChannel writer = accepted.get()) {
        assertThat(writer.write(ByteBuffer.allocate(1)).get()).isOne();
        assertThat(read.get()).isOne();
      }
      whole.part();
      assertThat(memory.scope().isAlive()).isFalse();
      assertThat(budget.usedBytes()).isZero();
    } finally {
      whole.close();
    }
  }
}

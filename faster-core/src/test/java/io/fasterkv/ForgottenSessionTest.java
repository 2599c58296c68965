package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.sim.ScriptedDevice;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests sessions that became unreachable without being closed. */
@Tag("long")
class ForgottenSessionTest {
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  private final Queue<Runnable> completions = new ArrayDeque<>();
  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());

  private FasterStore open() {
    return FasterStore.open(
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(4L * PAGE_BYTES)
            .indexBytes(4096)
            .maxSessions(1)
            .build(),
        device);
  }

  private static void fill(FasterStore store) {
    try (var session = store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions())) {
      for (int key = 0; key < 100; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[900]), null);
      }
    }
  }

  private static void awaitFree(BufferPool buffers, long bytes) {
    while (buffers.freeBytes() < bytes) {
      System.gc();
      Thread.yield();
    }
    assertThat(buffers.freeBytes()).isEqualTo(bytes);
  }

  @Test
  void giveTheirBuffersAndTheirPlacesBack() {
    try (FasterStore store = open()) {
      fill(store);
      BufferPool buffers = Insides.engine(store).buffers();
      long free = buffers.freeBytes();
      for (int i = 0; i < 3 * StoreParts.epochSlots(store.config()); i++) {
        useAndForget(store);
        awaitFree(buffers, free);
      }
    }
  }

  private static void useAndForget(FasterStore store) {
    var session = store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions());
    session.upsert(ModelDriver.key(1), ByteSpan.of(new byte[10]), null);
    session.read(ModelDriver.key(1), null, new BytesFunctions.Result(), null);
  }

  /** A buffer that the device is still filling is returned after the read has ended. */
  @Test
  void returnsBuffersOfReadsInProgressWhenTheyEnd() {
    FasterStore store = open();
    BufferPool buffers = Insides.engine(store).buffers();
    fill(store);
    long free = buffers.freeBytes();
    device.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void complete(Runnable completion) {
            completions.add(completion);
          }
        });
    readAndForget(store);
    long withTwo = buffers.freeBytes();
    while (buffers.freeBytes() == withTwo) {
      System.gc();
      Thread.yield();
    }
    assertThat(buffers.freeBytes()).as("a read is in progress").isLessThan(free);
    device.setScript(ScriptedDevice.Script.NONE);
    completions.forEach(Runnable::run);
    awaitFree(buffers, free);
    store.close();
  }

  private static void readAndForget(FasterStore store) {
    var session = store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions());
    var result = new BytesFunctions.Result();
    assertThat(session.read(ModelDriver.key(0), null, result, null)).isEqualTo(Status.PENDING);
    session.read(ModelDriver.key(99), null, result, null);
  }

  @Test
  void mayBeForgottenAfterTheStoreIsClosed() {
    FasterStore store = open();
    BufferPool buffers = Insides.engine(store).buffers();
    long free = buffers.freeBytes();
    useAndForget(store);
    store.close();
    awaitFree(buffers, free);
  }
}

package io.fasterkv.memory;

import java.io.IOException;
import java.io.Serial;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Maps large blocks of memory, in huge pages where this JVM and this machine support them.
 * Otherwise it logs the reason, once in each process, and the store uses the JVM's ordinary memory.
 * That is slower where keys are spread over much of it, and it is zeroed, and thus committed, when
 * it is allocated.
 */
final class HugePages {
  /** Size of a huge page; smaller blocks are not mapped. */
  static final long BYTES = 2L << 20;

  private static final Path MODE = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
  private static final AtomicBoolean IS_LOGGED = new AtomicBoolean();

  private final Logger logger;
  private final AtomicBoolean keepsMemory = new AtomicBoolean();

  /** The reason why the kernel gave no memory. */
  static final class Refused extends Exception {
    @Serial private static final long serialVersionUID = 1L;

    Refused(String message) {
      super(message);
    }
  }

  /**
   * @param logger receives what the machine does not support
   */
  HugePages(Logger logger) {
    this.logger = logger;
  }

  /** Prefaults the first bytes that a buffer uses. */
  PagePrefaulter prefaulter(MemorySegment buffer, long bytes) {
    return new PagePrefaulter(buffer, bytes, logger);
  }

  /**
   * Maps zeroed memory that lives as long as {@code arena}; returns null if that is impossible. The
   * part that does not fill a huge page uses small pages even where the system would make them huge
   * by itself: a huge page would take more memory than is touched.
   *
   * @param moreBytes length of the address range after the first {@code bytes}, all in small pages
   */
  @Nullable MemorySegment tryAllocate(Arena arena, long bytes, long moreBytes) {
    String obstacle = obstacle();
    if (obstacle != null) {
      log(obstacle);
      return null;
    }
    try {
      MemorySegment memory = Mapping.map(arena, bytes + moreBytes);
      long hugeBytes = bytes & -BYTES;
      boolean isKnown = Mapping.adviseSmallPages(memory.asSlice(hugeBytes));
      if (hugeBytes == 0) {
        return memory;
      }
      if (!isKnown || !Mapping.adviseHugePages(memory.asSlice(0, hugeBytes))) {
        log("the kernel does not support huge pages; memory is in small pages");
      } else if (mode().contains("[never]")) {
        log("huge pages are turned off: " + MODE + "=never, allowed=madvise or always");
      }
      return memory;
    } catch (Refused e) {
      if (moreBytes > 0) {
        log(e.getMessage() + "; the memory cannot grow: moreBytes=" + moreBytes);
        return tryAllocate(arena, bytes, 0);
      }
      log(e.getMessage() + "; ordinary memory is used");
      return null;
    }
  }

  /** Whether the system has these calls and the JVM allows them without a warning. */
  static boolean isReachable() {
    return obstacle() == null;
  }

  private static @Nullable String obstacle() {
    if (!System.getProperty("os.name", "").equals("Linux")) {
      return "huge pages are used on Linux only; ordinary memory is used";
    }
    Module module = HugePages.class.getModule();
    if (module.isNativeAccessEnabled()) {
      return null;
    }
    return "no huge pages without native access, no reads of mapped files, and no io_uring:"
        + " start the JVM with --enable-native-access="
        + (module.isNamed() ? module.getName() : "ALL-UNNAMED")
        + ", or set hugePages=false";
  }

  /** Logs that the system does not take back released memory. */
  void notReleased(long bytes) {
    if (!keepsMemory.getAndSet(true)) {
      logger.log(
          Level.WARNING,
          "the system does not take memory back, which may be locked: bytes=" + bytes);
    }
  }

  private static String mode() {
    try {
      return Files.readString(MODE);
    } catch (IOException e) {
      return "";
    }
  }

  private void log(String what) {
    if (!IS_LOGGED.getAndSet(true)) {
      logger.log(Level.INFO, what);
    }
  }
}

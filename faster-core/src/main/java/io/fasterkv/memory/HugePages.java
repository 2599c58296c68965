package io.fasterkv.memory;

import java.io.IOException;
import java.io.Serial;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Large pieces of memory in huge pages where this JVM and this machine allow it. What keeps them
 * from it is logged once; the store then works on the JVM's ordinary memory, which is slower where
 * keys are spread over much of it, and is zeroed, and so taken from the machine, when it is
 * allocated.
 */
final class HugePages {
  /** Size of a huge page, and what smaller pieces are not worth. */
  static final long BYTES = 2L << 20;

  private static final Path MODE = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
  private static final System.Logger LOG = System.getLogger("io.fasterkv");
  private static final AtomicBoolean IS_LOGGED = new AtomicBoolean();

  /** Why the kernel gave no memory. */
  static final class Refused extends Exception {
    @Serial private static final long serialVersionUID = 1L;

    Refused(String message) {
      super(message);
    }
  }

  private HugePages() {}

  /**
   * Zeroed memory that lives as long as {@code arena}, or null if it is to be had in no way. What
   * is not all of a huge page is in small ones, wherever the system would make it huge by itself:
   * it would take more than is touched.
   *
   * @param moreBytes how much lies behind the first {@code bytes}, all in small pages
   */
  static @Nullable MemorySegment tryAllocate(Arena arena, long bytes, long moreBytes) {
    if (!isReachable()) {
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
        log("the kernel takes no advice on huge pages; memory is in small pages");
      } else if (mode().contains("[never]")) {
        log("huge pages are switched off: " + MODE + "=never, allowed=madvise or always");
      }
      return memory;
    } catch (Refused e) {
      log(e.getMessage() + "; ordinary memory is used");
      return null;
    }
  }

  /** Whether downcalls may be made without the JVM complaining, on a system that has these. */
  static boolean isReachable() {
    if (!System.getProperty("os.name", "").equals("Linux")) {
      log("huge pages are asked for on Linux only; ordinary memory is used");
      return false;
    }
    if (!HugePages.class.getModule().isNativeAccessEnabled()) {
      Module module = HugePages.class.getModule();
      log(
          "no huge pages without native access, nor reads of mapped files; ordinary memory is used:"
              + " start the JVM with"
              + " --enable-native-access="
              + (module.isNamed() ? module.getName() : "ALL-UNNAMED")
              + ", or set hugePages=false");
      return false;
    }
    return true;
  }

  private static String mode() {
    try {
      return Files.readString(MODE);
    } catch (IOException e) {
      return "";
    }
  }

  private static void log(String what) {
    if (!IS_LOGGED.getAndSet(true)) {
      LOG.log(Level.INFO, what);
    }
  }
}

package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Tests when memory is committed, according to the kernel's report on mappings. */
@EnabledOnOs(OS.LINUX)
class PreallocationTest {
  private static final long BYTES = 16L << 20;

  @Test
  void memoryIsTakenAtOnceIfThatIsWanted() throws IOException {
    assertThat(residentBytes(true)).isGreaterThanOrEqualTo(BYTES);
  }

  @Test
  void memoryIsOtherwiseCommittedOnFirstTouch() throws IOException {
    assumeTrue(HugePages.isReachable(), "the JVM takes all at once without native access");
    assertThat(residentBytes(false)).isLessThan(BYTES / 2);
  }

  private static long residentBytes(boolean preallocates) throws IOException {
    try (OffHeapArena arena =
        new OffHeapArena(new MemoryBudget(BYTES), true, preallocates, System.getLogger("test"))) {
      MemorySegment memory = arena.allocate("a test", BYTES, OffHeapArena.PAGE_ALIGNMENT);
      return residentBytes(memory, Files.readAllLines(Path.of("/proc/self/smaps")));
    }
  }

  /** Resident bytes of the mappings that contain some of the memory. */
  private static long residentBytes(MemorySegment memory, List<String> smaps) {
    long bytes = 0;
    boolean isInside = false;
    for (String line : smaps) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        String[] range = line.split("[- ]", 3);
        isInside =
            new BigInteger(range[0], 16).longValue() < memory.address() + memory.byteSize()
                && memory.address() < new BigInteger(range[1], 16).longValue();
      } else if (isInside && line.startsWith("Rss:")) {
        bytes += Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    return bytes;
  }
}

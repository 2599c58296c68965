package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Tests that huge pages are used only for memory that is used as a whole: a huge page takes 2 MiB
 * whatever part of it is touched. This includes systems that use huge pages without being asked to.
 */
@EnabledOnOs(OS.LINUX)
class SmallPagesTest {
  private static final String FLAGS = "VmFlags:";
  private static final String HUGE = "hg";
  private static final String NOT_HUGE = "nh";
  private static final int MANY = 64 << 20;

  private final OffHeapArena memory =
      new OffHeapArena(new MemoryBudget(MANY), true, false, System.getLogger("test"));

  @AfterEach
  void close() {
    memory.close();
  }

  @Test
  void blocksBelowAHugePageAreInSmallPages() throws IOException {
    MemorySegment piece = memory.allocateResizable("piece", 1 << 20, 0);
    assertThat(flags(piece.address())).contains(NOT_HUGE);
    assertThat(flags(piece.address() + piece.byteSize() - 1)).contains(NOT_HUGE);
  }

  @Test
  void theEndOfALargeBlockIsInSmallPages() throws IOException {
    MemorySegment piece = memory.allocate("piece", (4 << 20) + 4096, 64);
    assertThat(flags(piece.address())).contains(HUGE);
    assertThat(flags(piece.address() + (4 << 20) - 1)).contains(HUGE);
    assertThat(flags(piece.address() + (4 << 20))).contains(NOT_HUGE);
  }

  @Test
  void addressSpaceForLaterIsInSmallPages() throws IOException {
    MemorySegment piece = memory.allocateResizable("piece", 3 << 20, 8 << 20);
    assertThat(flags(piece.address())).contains(HUGE);
    assertThat(flags(piece.address() + (2 << 20))).contains(NOT_HUGE);
    assertThat(flags(piece.address() + (11 << 20) - 1)).contains(NOT_HUGE);
  }

  @Test
  void wholeHugePagesAreAskedForToTheEnd() throws IOException {
    MemorySegment piece = memory.allocateResizable("piece", 4 << 20, 0);
    assertThat(flags(piece.address())).contains(HUGE);
    assertThat(flags(piece.address() + (4 << 20) - 1)).contains(HUGE);
  }

  /** The kernel's flags for the mapping that contains an address. */
  private static List<String> flags(long address) throws IOException {
    boolean isThere = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        String[] range = line.split("[- ]");
        isThere =
            Long.parseUnsignedLong(range[0], 16) <= address
                && address < Long.parseUnsignedLong(range[1], 16);
      } else if (isThere && line.startsWith(FLAGS)) {
        return List.of(line.substring(FLAGS.length()).trim().split(" "));
      }
    }
    throw new AssertionError("nothing is mapped at " + Long.toHexString(address));
  }
}

package io.fasterkv.bench.process;

import io.fasterkv.bench.demo.screen.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory this process has taken, where the operating system tells. */
public final class ProcessMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String PEAK = "VmHWM:";

  private ProcessMemory() {}

  /** Writes the highest resident size so far and the limit of the heap. */
  public static String describe() {
    String heap = "heap limit " + Sizes.bytes(Runtime.getRuntime().maxMemory());
    long peak = peakBytes();
    return peak == 0 ? heap : "peak memory of the process " + Sizes.bytes(peak) + ", " + heap;
  }

  /** Returns the highest resident size so far, in bytes, or 0 if it is not known. */
  public static long peakBytes() {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(PEAK)) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
    } catch (IOException | NumberFormatException e) {
      return 0; // not a Linux
    }
    return 0;
  }
}

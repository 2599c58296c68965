package io.fasterkv.bench.process;

import io.fasterkv.bench.report.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reports how much memory a process uses, if the operating system tells. */
public final class ProcessMemory {
  private static final String SELF = "self";
  private static final Path CLEAR = Path.of("/proc/self/clear_refs");
  private static final String PEAK = "VmHWM:";
  private static final String RESIDENT = "VmRSS:";
  private static final String RESET_PEAK = "5";

  private ProcessMemory() {}

  /** Writes the highest resident size so far and the limit of the heap. */
  public static String describe() {
    String heap = "heap limit " + Sizes.bytes(Runtime.getRuntime().maxMemory());
    long peak = peakBytes();
    return peak == 0 ? heap : "peak memory of the process " + Sizes.bytes(peak) + ", " + heap;
  }

  /** Returns the highest resident size so far, in bytes, or 0 if it is not known. */
  public static long peakBytes() {
    return status(SELF, PEAK);
  }

  /** Returns the highest resident size of another process so far, in bytes, or 0 if not known. */
  static long peakBytes(long pid) {
    return status(Long.toString(pid), PEAK);
  }

  /** Returns the resident size now, in bytes, or 0 if it is not known. */
  public static long residentBytes() {
    return status(SELF, RESIDENT);
  }

  /** Resets the highest resident size; returns false where that is not possible. */
  public static boolean resetPeak() {
    try {
      Files.writeString(CLEAR, RESET_PEAK, StandardOpenOption.WRITE);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static long status(String process, String line) {
    try {
      for (String found : Files.readAllLines(Path.of("/proc", process, "status"))) {
        if (found.startsWith(line)) {
          return Long.parseLong(found.replaceAll("\\D", "")) * 1024;
        }
      }
    } catch (IOException | NumberFormatException e) {
      return 0; // not a Linux
    }
    return 0;
  }
}

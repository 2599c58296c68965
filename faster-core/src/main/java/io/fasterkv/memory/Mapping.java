package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Maps anonymous memory directly from the kernel: zero, aligned to huge pages, committed when it is
 * touched, with the advice to use huge pages. It uses downcalls, which are restricted: nothing here
 * may be called unless {@link HugePages#isReachable()}.
 */
final class Mapping {
  private static final int READ_WRITE = 0x1 | 0x2;
  private static final int PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
  private static final int ADVISE_NOT_NEEDED = 4;
  private static final int ADVISE_HUGE_PAGES = 14;
  private static final int ADVISE_SMALL_PAGES = 15;
  private static final long FAILED = -1;

  private static final MethodHandle MMAP =
      downcall(
          "mmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));
  private static final MethodHandle MUNMAP =
      downcall(
          "munmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  private static final MethodHandle MADVISE =
      downcall(
          "madvise",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));

  private static final int PAGE_BYTES = pageBytes();

  private Mapping() {}

  /**
   * Maps {@code bytes}, which are unmapped when {@code arena} closes.
   *
   * @throws HugePages.Refused if the kernel gives no memory
   */
  @SuppressWarnings("restricted")
  static MemorySegment map(Arena arena, long bytes) throws HugePages.Refused {
    long mapped = bytes + HugePages.BYTES;
    long base =
        call(() ->
            (long) MMAP.invokeExact(0L, mapped, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0L));
    if (base == FAILED) {
      throw new HugePages.Refused("the kernel maps no memory: bytes=" + mapped);
    }
    long start = (base + HugePages.BYTES - 1) & -HugePages.BYTES;
    return MemorySegment.ofAddress(start).reinterpret(bytes, arena, memory -> unmap(base, mapped));
  }

  /** Requests huge pages; returns false if the kernel does not support them. */
  static boolean adviseHugePages(MemorySegment memory) {
    return advise(memory, ADVISE_HUGE_PAGES);
  }

  /** Requests pages of the usual size; returns false if the kernel supports no others. */
  static boolean adviseSmallPages(MemorySegment memory) {
    return advise(memory, ADVISE_SMALL_PAGES);
  }

  /**
   * Releases memory, which is zero when it is touched again. Returns false if the kernel keeps it,
   * or if the range is not whole pages, which would release adjacent bytes too.
   */
  static boolean release(MemorySegment memory) {
    return isOfPages(memory.address() | memory.byteSize()) && advise(memory, ADVISE_NOT_NEEDED);
  }

  /** Whether the length is a multiple of the system's page size. */
  static boolean isOfPages(long bytes) {
    return bytes % PAGE_BYTES == 0;
  }

  /** The length rounded down to whole system pages. */
  static long wholePages(long bytes) {
    return bytes - bytes % PAGE_BYTES;
  }

  private static boolean advise(MemorySegment memory, int advice) {
    return call(() -> (int) MADVISE.invokeExact(memory.address(), memory.byteSize(), advice)) == 0;
  }

  private static void unmap(long base, long bytes) {
    call(() -> (int) MUNMAP.invokeExact(base, bytes));
  }

  private static int pageBytes() {
    MethodHandle call = downcall("getpagesize", FunctionDescriptor.of(ValueLayout.JAVA_INT));
    return (int) call(() -> (int) call.invokeExact());
  }

  private interface Downcall {
    long run() throws Throwable;
  }

  private static long call(Downcall downcall) {
    try {
      return downcall.run();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("a downcall threw: " + e, e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle downcall(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }
}

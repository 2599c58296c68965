package io.fasterkv.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;

/**
 * Makes Linux system calls by number, without a native library of its own. It owns the native
 * memory that they work on, which lives until {@link #close()}. Works only if {@link #isGranted()};
 * otherwise the JVM would warn. One thread at a time.
 */
public final class SystemCalls implements AutoCloseable {
  private static final boolean IS_X86 = architecture().equals("amd64");
  private static final long CLOSE = IS_X86 ? 3 : 57;
  private static final long MMAP = IS_X86 ? 9 : 222;
  private static final long MUNMAP = IS_X86 ? 11 : 215;
  private static final long MADVISE = IS_X86 ? 28 : 233;
  private static final long OPENAT = IS_X86 ? 257 : 56;

  private static final long CURRENT_DIRECTORY = -100;
  private static final long CLOSE_ON_EXEC = 0x80000;

  /** Flag to open a file for transfers that bypass the page cache. */
  public static final long DIRECT = IS_X86 ? 0x4000 : 0x10000;

  private static final long RANDOM = 1;
  private static final long READ_AND_WRITE = 1 | 2;
  private static final long SHARED_AND_POPULATED = 1 | 0x8000;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment state = arena.allocate(Native.STATE);

  /** Whether the JVM was told to allow native access, on a system whose calls are known here. */
  public static boolean isGranted() {
    boolean isKnown = IS_X86 || architecture().equals("aarch64");
    return isKnown
        && System.getProperty("os.name").equals("Linux")
        && ValueLayout.ADDRESS.byteSize() == Long.BYTES
        && SystemCalls.class.getModule().isNativeAccessEnabled();
  }

  /** Allocates zeroed memory that a call may read and write. */
  public MemorySegment allocate(long bytes) {
    return arena.allocate(bytes, Long.BYTES);
  }

  /**
   * Makes a call by number; returns the kernel's result, which is a negative error number on
   * failure.
   */
  public long call(long number, long a, long b, long c, long d) {
    return call(number, a, b, c, new long[] {d, 0, 0});
  }

  /** Opens an existing file for reading; returns its descriptor or a negative error number. */
  public int open(String path, long flags) {
    try (Arena scratch = Arena.ofConfined()) {
      long name = scratch.allocateFrom(path).address();
      return (int) call(OPENAT, CURRENT_DIRECTORY, name, flags | CLOSE_ON_EXEC, 0);
    }
  }

  public void close(int descriptor) {
    call(CLOSE, descriptor, 0, 0, 0);
  }

  /** Maps what a descriptor offers at {@code offset} until {@link #close()}. */
  @SuppressWarnings("restricted")
  public MemorySegment map(int descriptor, long offset, long bytes) throws IOException {
    long address =
        call(MMAP, 0, bytes, READ_AND_WRITE, new long[] {SHARED_AND_POPULATED, descriptor, offset});
    if (address < 0 && address > -MAX_ERROR) {
      throw new IOException("memory could not be mapped: errno=" + -address);
    }
    return MemorySegment.ofAddress(address).reinterpret(bytes, arena, SystemCalls::unmap);
  }

  /**
   * Tells the kernel not to read ahead in a mapped file; returns false if that is not supported.
   */
  public boolean adviseRandom(MemorySegment mapped) {
    return call(MADVISE, mapped.address(), mapped.byteSize(), RANDOM, 0) == 0;
  }

  /** Frees all memory, including mappings. */
  @Override
  public void close() {
    arena.close();
  }

  private static final long MAX_ERROR = 4096;

  private static void unmap(MemorySegment memory) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment state = scratch.allocate(Native.STATE);
      Native.call(state, MUNMAP, memory.address(), memory.byteSize(), 0, new long[] {0, 0, 0});
    }
  }

  private long call(long number, long a, long b, long c, long[] more) {
    return Native.call(state, number, a, b, c, more);
  }

  private static String architecture() {
    return System.getProperty("os.arch").toLowerCase(Locale.ROOT);
  }

  /** Linked on first use, so that checking whether access is granted causes no warning. */
  private static final class Native {
    static final StructLayout STATE = Linker.Option.captureStateLayout();

    private static final MethodHandle SYSCALL = link();
    private static final long ERRNO =
        STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    static long call(MemorySegment state, long number, long a, long b, long c, long[] more) {
      try {
        long result = (long) SYSCALL.invokeExact(state, number, a, b, c, more[0], more[1], more[2]);
        return result == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
      } catch (Throwable e) {
        throw new AssertionError("a system call does not throw", e);
      }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link() {
      Linker linker = Linker.nativeLinker();
      ValueLayout word = ValueLayout.JAVA_LONG;
      return linker.downcallHandle(
          linker.defaultLookup().findOrThrow("syscall"),
          FunctionDescriptor.of(word, word, word, word, word, word, word, word),
          Linker.Option.firstVariadicArg(1),
          Linker.Option.captureCallState("errno"));
    }
  }
}

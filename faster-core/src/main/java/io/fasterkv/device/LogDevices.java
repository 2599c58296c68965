package io.fasterkv.device;

import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.IoKind;
import io.fasterkv.api.StoreException.BadConfig;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/** Selects the device for a store's settings, as far as the system supports them. */
public final class LogDevices {
  private static final Logger LOG = System.getLogger(LogDevices.class.getName());

  /**
   * A log is up to twice its live bytes, which may be ten times the memory. The kernel's tables for
   * mapped memory take 1/512 of it.
   */
  private static final long MAPPED_TIMES = 32;

  private static final long LEAST_MAPPED_BYTES = 512L << 20;
  private static final AtomicBoolean TOLD_OF_NO_RINGS = new AtomicBoolean();

  private LogDevices() {}

  /**
   * Opens a device in the store's existing directory, or a {@link NoDevice} for a store in memory.
   *
   * @param config the settings
   * @return the device
   * @throws BadConfig if {@link IoKind#URING} is requested and not available
   */
  public static LogDevice open(StoreConfig config) {
    if (config.isInMemory()) {
      return new NoDevice();
    }
    FileDevice files = files(config);
    if (config.ioKind() == IoKind.FILE) {
      return files;
    }
    try {
      return UringDevice.over(files, config.maxRings());
    } catch (IOException e) {
      if (config.ioKind() == IoKind.URING) {
        close(files, e);
        throw new BadConfig(
            "io_uring cannot be used: ioKind=URING, allowed=FILE or AUTO; " + e.getMessage());
      }
      if (TOLD_OF_NO_RINGS.compareAndSet(false, true)) {
        LOG.log(Level.INFO, "disk reads use threads, not io_uring: " + e.getMessage());
      }
      return files;
    }
  }

  static void warn(String what, Path directory, IOException cause) {
    LOG.log(Level.WARNING, what + ": directory=" + directory + ", cause=" + cause.getMessage());
  }

  private static FileDevice files(StoreConfig config) {
    if (config.directIo()) {
      try {
        return FileDevice.direct(config.directory(), config.segmentBytes());
      } catch (IOException e) {
        warn("no direct I/O, the log goes through the page cache", config.directory(), e);
        return new FileDevice(config.directory(), config.segmentBytes());
      }
    }
    if (!config.mappedReads()) {
      return new FileDevice(config.directory(), config.segmentBytes());
    }
    long mapped = Math.max(LEAST_MAPPED_BYTES, MAPPED_TIMES * config.memoryBytes());
    return FileDevice.mapped(config.directory(), config.segmentBytes(), mapped);
  }

  private static void close(FileDevice files, IOException because) {
    try {
      files.close();
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }
}

package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.memory.NoDevice;
import io.fasterkv.device.ring.UringDevice;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/** Selects the device for a store's settings, as far as the system supports them. */
final class LogDevices {
  /**
   * A log is up to twice its live bytes, which may be ten times the memory. The kernel's tables for
   * mapped memory take 1/512 of it.
   */
  private static final long MAPPED_TIMES = 32;

  private static final long LEAST_MAPPED_BYTES = 512L << 20;
  private static final AtomicBoolean IS_LOGGED = new AtomicBoolean();

  private LogDevices() {}

  /**
   * Opens a device in the store's existing directory, or a {@link NoDevice} for a store in memory.
   *
   * @param config the settings
   * @return the device
   * @throws BadConfig if {@link IoKind#URING} is requested and not available
   */
  static LogDevice open(StoreConfig config) {
    if (config.isInMemory()) {
      return new NoDevice();
    }
    FileDevice files = files(config);
    if (config.ioKind() == IoKind.FILE) {
      return files;
    }
    try {
      return UringDevice.over(files, config.maxRings(), config.logger());
    } catch (IOException e) {
      if (config.ioKind() == IoKind.URING) {
        close(files, e);
        throw new BadConfig(
            "io_uring cannot be used: ioKind=URING, allowed=FILE or AUTO; " + e.getMessage());
      }
      if (!isExplainedElsewhere(config) && IS_LOGGED.compareAndSet(false, true)) {
        config
            .logger()
            .log(Level.INFO, "disk reads use threads, not io_uring: cause=" + e.getMessage());
      }
      return files;
    }
  }

  /** Whether the memory that the store allocates next logs everything that native access gives. */
  private static boolean isExplainedElsewhere(StoreConfig config) {
    return config.hugePages() && !LogDevices.class.getModule().isNativeAccessEnabled();
  }

  private static FileDevice files(StoreConfig config) {
    if (config.directIo()) {
      try {
        return FileDevice.direct(config.directory(), config.segmentBytes());
      } catch (IOException e) {
        config
            .logger()
            .log(
                Level.WARNING,
                "direct I/O is not available, the log uses the page cache: directory="
                    + config.directory()
                    + ", cause="
                    + e.getMessage());
        return new FileDevice(config.directory(), config.segmentBytes());
      }
    }
    if (!config.mappedReads()) {
      return new FileDevice(config.directory(), config.segmentBytes());
    }
    long usual = Math.max(LEAST_MAPPED_BYTES, MAPPED_TIMES * config.memoryBytes());
    long most = Math.max(usual, MAPPED_TIMES * config.maxMemoryBytes());
    return FileDevice.mapped(config.directory(), config.segmentBytes(), usual, most);
  }

  private static void close(FileDevice files, IOException because) {
    try {
      files.close();
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }
}

package io.fasterkv.device;

import io.fasterkv.api.StoreConfig;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Picks the device that a store's settings ask for, as far as the system allows. */
public final class LogDevices {
  private static final Logger LOG = System.getLogger(LogDevices.class.getName());

  private LogDevices() {}

  /** A device in the store's directory, which is there already. */
  public static LogDevice open(StoreConfig config) {
    if (config.directIo()) {
      try {
        return FileDevice.direct(config.directory(), config.segmentBytes());
      } catch (IOException e) {
        LOG.log(
            Level.WARNING,
            "no direct I/O, the log goes through the page cache: directory="
                + config.directory()
                + ", cause="
                + e.getMessage());
      }
    }
    return new FileDevice(config.directory(), config.segmentBytes());
  }
}

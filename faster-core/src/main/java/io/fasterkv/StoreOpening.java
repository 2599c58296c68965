package io.fasterkv;

import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.checkpoint.recover.Recovery;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.DurableFiles;
import io.fasterkv.device.memory.NoDevice;
import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.spi.LogOrigin;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Opens stores: prepares the directory and the device, and cleans up after failures. */
final class StoreOpening {
  private StoreOpening() {}

  /** Opens a store on the device that its settings select; closes the device if that fails. */
  static FasterStore onOwnDevice(StoreConfig config, Function<LogDevice, FasterStore> opener) {
    LogDevice device = LogDevices.open(config);
    try {
      return opener.apply(device);
    } catch (RuntimeException | Error e) {
      closeQuietly(device, e);
      throw e;
    }
  }

  /** Builds the parts of an empty store. */
  static StoreParts empty(StoreConfig config, LogDevice device) {
    prepareDirectory(config);
    if (!config.isInMemory()) {
      Recovery.requireNoCheckpoint(config);
    } else if (!(device instanceof NoDevice)) {
      throw new BadConfig(
          "a store in memory takes no device: device="
              + device.place(0)
              + ", allowed=none; build the settings with StoreConfig.builder(directory)");
    }
    return StoreParts.empty(config, device);
  }

  /** Builds the parts of a store as it was at a checkpoint; closes the device if that fails. */
  static StoreParts recovered(StoreConfig config, RecoveryRequest request, LogDevice below) {
    LogOrigin origin = request.origin();
    LogDevice device =
        origin == null ? below : new LazyRestoreDevice(below, origin, config.logger());
    try {
      return recoveredParts(config, request, device);
    } catch (RuntimeException | Error e) {
      closeQuietly(device, e);
      throw e;
    }
  }

  private static StoreParts recoveredParts(
      StoreConfig config, RecoveryRequest request, LogDevice device) {
    List<CheckpointToken> candidates = Recovery.candidates(config, request);
    List<StoreException> failures = new ArrayList<>();
    for (CheckpointToken token : candidates) {
      try {
        return StoreParts.recovered(config, token, request, device);
      } catch (Corrupt | DeviceFailed e) {
        failures.add(e);
      }
    }
    StoreException first = failures.getFirst();
    failures.subList(1, failures.size()).forEach(first::addSuppressed);
    throw first;
  }

  static void prepareDirectory(StoreConfig config) {
    if (config.isInMemory()) {
      return;
    }
    try {
      DurableFiles.createDirectories(config.directory());
    } catch (IOException e) {
      throw new BadConfig(
          "the directory cannot be made: directory=" + config.directory() + ", cause=" + e);
    }
  }

  private static void closeQuietly(LogDevice device, Throwable because) {
    try {
      device.close();
    } catch (Throwable e) {
      because.addSuppressed(e);
    }
  }
}

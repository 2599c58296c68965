package io.fasterkv;

import io.fasterkv.sim.SimulatedDisk;

/** Which checkpoints a disk has. */
final class CheckpointNames {
  private CheckpointNames() {}

  /** The number of the newest checkpoint that has a manifest, 0 if there is none. */
  static long newest(SimulatedDisk disk) {
    return disk.names().stream()
        .filter(name -> name.endsWith(".manifest"))
        .mapToLong(name -> Long.parseLong(name.replaceAll("\\D", "")))
        .max()
        .orElse(0);
  }
}

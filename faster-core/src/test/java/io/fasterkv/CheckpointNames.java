package io.fasterkv;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.sim.SimulatedDisk;
import java.util.List;

/** Which checkpoints a disk has. */
public final class CheckpointNames {
  private CheckpointNames() {}

  /** The numbers of all checkpoints that have a manifest. */
  public static List<Long> all(SimulatedDisk disk) {
    return disk.names().stream()
        .filter(name -> name.endsWith(".manifest"))
        .map(name -> Long.parseLong(name.replaceAll("\\D", "")))
        .toList();
  }

  /** The number of the newest checkpoint that has a manifest, 0 if there is none. */
  public static long newest(SimulatedDisk disk) {
    return all(disk).stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** The numbers of those that a store can be recovered from, oldest first. */
  public static List<Long> recoverable(SimulatedDisk disk) {
    return Checkpoints.of(disk.directory()).list().stream()
        .filter(info -> info.kind() != CheckpointKind.INDEX_ONLY)
        .map(info -> info.token().number())
        .toList();
  }
}

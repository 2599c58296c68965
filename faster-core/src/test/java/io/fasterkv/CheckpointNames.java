package io.fasterkv;

import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.sim.SimulatedDisk;
import java.util.List;

/** Lists the checkpoints on a disk. */
public final class CheckpointNames {
  private CheckpointNames() {}

  /** The numbers of all checkpoints with a manifest. */
  public static List<Long> all(SimulatedDisk disk) {
    return disk.names().stream()
        .filter(name -> name.endsWith(".manifest"))
        .map(name -> Long.parseLong(name.replaceAll("\\D", "")))
        .toList();
  }

  /** The number of the newest checkpoint with a manifest, 0 if there is none. */
  public static long newest(SimulatedDisk disk) {
    return all(disk).stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** The numbers of the checkpoints from which a store can be recovered, oldest first. */
  public static List<Long> recoverable(SimulatedDisk disk) {
    return Checkpoints.of(disk.directory()).list().stream()
        .filter(info -> info.kind() != CheckpointKind.INDEX_ONLY)
        .map(info -> info.token().number())
        .toList();
  }
}

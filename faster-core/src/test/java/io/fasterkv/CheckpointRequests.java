package io.fasterkv;

import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** All possible checkpoint requests. */
final class CheckpointRequests {
  private CheckpointRequests() {}

  /** All requests. */
  static List<CheckpointRequest> all() {
    List<CheckpointRequest> all = new ArrayList<>(List.of(CheckpointRequest.indexOnly()));
    all.addAll(withLog());
    return all;
  }

  /** All requests whose checkpoint can be recovered. */
  static List<CheckpointRequest> withLog() {
    List<CheckpointRequest> all = new ArrayList<>();
    for (CheckpointKind kind : CheckpointKind.values()) {
      if (kind != CheckpointKind.INDEX_ONLY) {
        all.add(CheckpointRequest.full(kind));
        all.add(CheckpointRequest.logOnly(kind));
      }
    }
    return all;
  }

  static CheckpointRequest random(SplittableRandom random) {
    return all().get(random.nextInt(all().size()));
  }

  static boolean hasLog(CheckpointRequest request) {
    return request.kind() != CheckpointKind.INDEX_ONLY;
  }
}

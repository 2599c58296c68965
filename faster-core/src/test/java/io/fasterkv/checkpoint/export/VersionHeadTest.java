package io.fasterkv.checkpoint.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.log.VoidRanges.VoidRange;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests the head of a version whose log is cut off. */
class VersionHeadTest {
  private static final VoidRange FIRST = new VoidRange(4096, 8192, 3);
  private static final VoidRange SECOND = new VoidRange(12288, 16384, 5);

  private final VersionHead head =
      VersionHead.read(
          ManifestCodec.encode(
                  new CheckpointManifest(
                      1,
                      CheckpointKind.FOLD_OVER,
                      new Shape(RecordKind.LONGS, 4096, 32768),
                      new VersionCut(7, 4096, 20480, 24576, new TreeMap<>()),
                      new LogPart(List.of(), null, List.of(FIRST, SECOND)),
                      new IndexPart(64, 64, 0, false, null)))
              .array(),
          "the head");

  /**
   * Void ranges below the log's end stay void; records written later with these versions are not
   * void.
   */
  @Test
  void voidRangesEndWithTheLog() {
    assertThat(voidsUntil(4096)).isEmpty();
    assertThat(voidsUntil(12288)).containsExactly(FIRST);
    assertThat(voidsUntil(12800)).containsExactly(FIRST, new VoidRange(12288, 12800, 5));
    assertThat(voidsUntil(20480)).containsExactly(FIRST, SECOND);
    // Records of the next version are void from the address where that version begins.
    assertThat(voidsUntil(20992)).containsExactly(FIRST, SECOND, new VoidRange(20480, 20992, 8));
  }

  @Test
  void theLogEndsThereAndAllElseStays() {
    CheckpointManifest cut = head.until(12800).manifest();
    assertThat(cut.cut()).isEqualTo(new VersionCut(7, 4096, 12800, 12800, new TreeMap<>()));
    assertThat(cut.shape()).isEqualTo(head.manifest().shape());
    assertThat(cut.index()).isEqualTo(head.manifest().index());
  }

  private List<VoidRange> voidsUntil(long end) {
    CheckpointManifest cut = head.until(end).manifest();
    assertThat(cut.voidsAfterRecovery()).isEqualTo(cut.log().voids());
    return cut.log().voids();
  }
}

package io.fasterkv.checkpoint;

import io.fasterkv.device.DurableFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Puts manifests in their place: the moment from which a checkpoint exists. */
final class ManifestFile {
  private ManifestFile() {}

  /** Writes a manifest and moves it into place; all that it names is durable but for its name. */
  static void publish(CheckpointFiles files, CheckpointManifest manifest) throws IOException {
    var unfinished = files.unfinishedManifest(manifest.number());
    try {
      DurableFiles.write(unfinished, MemorySegment.ofBuffer(ManifestCodec.encode(manifest)));
    } catch (IOException e) {
      throw new IOException("file=" + unfinished + ", cause=" + e.getMessage(), e);
    }
    // The names of what it is made of must not be lost once its own name is there.
    DurableFiles.forceDirectory(files.directory());
    DurableFiles.moveIntoPlace(unfinished, files.manifest(manifest.number()));
  }
}

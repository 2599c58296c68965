package io.fasterkv.checkpoint.manifest;

import io.fasterkv.device.file.DurableFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Moves manifests to their final names, which makes the checkpoints exist. */
public final class ManifestFile {
  private ManifestFile() {}

  /**
   * Writes a manifest and moves it to its final name. Everything that it names must be durable,
   * except for file names.
   */
  public static void publish(CheckpointFiles files, CheckpointManifest manifest)
      throws IOException {
    var unfinished = files.unfinishedManifest(manifest.number());
    try {
      DurableFiles.write(unfinished, MemorySegment.ofBuffer(ManifestCodec.encode(manifest)));
    } catch (IOException e) {
      throw new IOException("file=" + unfinished + ", cause=" + e.getMessage(), e);
    }
    // The names of its files must be durable before its own name exists.
    DurableFiles.forceDirectory(files.directory());
    DurableFiles.moveIntoPlace(unfinished, files.manifest(manifest.number()));
  }
}

package io.fasterkv.checkpoint.inspect;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.FileInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.IndexInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.LogInfo;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.DumpedRecord;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.log.FlushedExtents.Extent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Inspects the checkpoints in a directory without opening a store; changes nothing. */
public final class CheckpointInspection {
  private final CheckpointFiles files;

  public CheckpointInspection(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw new BadConfig(
          "there is no such directory: directory=" + directory + ", allowed=a store's directory");
    }
    files = new CheckpointFiles(directory);
  }

  /** All checkpoints that have a manifest, readable or not, oldest first. */
  public List<CheckpointToken> tokens() {
    return files.complete().stream().map(CheckpointToken::new).toList();
  }

  /** The contents of a manifest. */
  public CheckpointInfo describe(CheckpointToken token) {
    CheckpointManifest manifest = read(token);
    VersionCut cut = manifest.cut();
    Image image = manifest.index().image();
    boolean isReplayed = !manifest.hasOwnImage() && manifest.hasLog();
    long imageStart = image == null ? cut.begin() : Math.max(image.start(), cut.begin());
    return new CheckpointInfo(
        token,
        manifest.kind(),
        manifest.shape().recordKind(),
        cut.version(),
        cut.points(),
        new LogInfo(
            cut.begin(),
            cut.start(),
            cut.end(),
            manifest.hasLog() ? manifest.deviceEnd() : cut.begin(),
            manifest.shape().pageBytes(),
            manifest.shape().segmentBytes()),
        new IndexInfo(
            manifest.index().mainBuckets(),
            manifest.index().overflowUsed(),
            image == null ? 0 : image.of(),
            isReplayed ? imageStart : cut.end()),
        fileInfos(manifest));
  }

  /** Reads every byte of a checkpoint and verifies all checksums. */
  public void verify(CheckpointToken token) {
    try (CheckpointImage image = new CheckpointImage(files, read(token))) {
      image.verifyIndex();
      for (Extent extent : image.extents()) {
        image.read(extent);
      }
    }
  }

  /** Shows the live records in the order of their addresses. */
  public void dump(CheckpointToken token, Consumer<DumpedRecord> consumer) {
    CheckpointManifest manifest = read(token);
    if (!manifest.hasLog()) {
      throw new BadConfig(
          "a checkpoint of the index alone has no records: number="
              + token.number()
              + ", kind="
              + manifest.kind()
              + ", allowed=a checkpoint with a log");
    }
    try (CheckpointImage image = new CheckpointImage(files, manifest)) {
      new CheckpointDump(image).run(consumer);
    }
  }

  private CheckpointManifest read(CheckpointToken token) {
    if (!files.complete().contains(token.number())) {
      throw new BadConfig(
          "there is no such checkpoint: number="
              + token.number()
              + ", directory="
              + files.directory()
              + ", allowed="
              + files.complete());
    }
    return ManifestCodec.read(files, token.number());
  }

  private List<FileInfo> fileInfos(CheckpointManifest manifest) {
    List<FileInfo> infos = new ArrayList<>();
    infos.add(fileInfo(files.manifest(manifest.number())));
    Image image = manifest.index().image();
    if (image != null) {
      infos.add(fileInfo(files.index(image.of())));
    }
    for (long owner : manifest.snapshotOwners()) {
      infos.add(fileInfo(files.snapshot(owner)));
    }
    return infos;
  }

  private static FileInfo fileInfo(Path file) {
    try {
      return new FileInfo(
          file.getFileName().toString(), Files.exists(file) ? Files.size(file) : -1);
    } catch (IOException e) {
      throw new Corrupt("a file cannot be looked at: file=" + file + ", cause=" + e, e);
    }
  }
}

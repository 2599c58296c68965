package io.fasterkv.bench.checkpoints;

import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.FileInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.IndexInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.LogInfo;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.bench.report.Labels;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code ./bench checkpoints describe}. */
@Command(
    name = "describe",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Everything that a checkpoint says of itself; the newest, unless one is named.")
final class DescribeCommand implements Callable<Integer> {
  @Mixin Choice choice = new Choice();

  /** Set by picocli. */
  DescribeCommand() {}

  private static String text(CommitPoint point) {
    String serial = "  " + point.serial();
    return point.excluded().isEmpty() ? serial : serial + ", excluded " + point.excluded();
  }

  @Override
  public Integer call() {
    CheckpointInfo info = choice.checkpoints().describe(choice.newest());
    PrintWriter out = choice.out();
    out.println("checkpoint  " + info.token().number());
    out.println("kind        " + Labels.of(info.kind()));
    out.println("version     " + info.version());
    out.println("records     " + Labels.of(info.recordKind()));
    log(info.log(), out);
    index(info, out);
    out.println("sessions    " + info.points().size());
    info.points().forEach((name, point) -> out.println("  " + Texts.line(name) + text(point)));
    out.println("files       " + info.files().size() + ", besides the segments of the log");
    for (FileInfo file : info.files()) {
      out.println(
          "  " + file.name() + "  " + (file.bytes() < 0 ? "MISSING" : file.bytes() + " bytes"));
    }
    out.flush();
    return info.files().stream().allMatch(file -> file.bytes() >= 0) ? 0 : 1;
  }

  private static void log(LogInfo log, PrintWriter out) {
    out.println(
        "log         "
            + log.begin()
            + " to "
            + log.end()
            + ", "
            + (log.end() - log.begin())
            + " bytes");
    if (log.start() < log.end()) {
      out.println(
          "            records of the next version, from " + log.start() + ", do not count");
    }
    if (log.deviceEnd() < log.end()) {
      out.println("            in segments below " + log.deviceEnd() + ", in snapshots from there");
    }
    out.println(
        "            pages of " + log.pageBytes() + " bytes, segments of " + log.segmentBytes());
  }

  private static void index(CheckpointInfo info, PrintWriter out) {
    IndexInfo index = info.index();
    out.println(
        "index       "
            + index.mainBuckets()
            + " buckets and "
            + index.overflowBuckets()
            + " overflow buckets, image: "
            + Texts.image(info));
    long end = info.log().end();
    if (index.replayFrom() < end) {
      out.println(
          "            recovery goes over the log from "
              + index.replayFrom()
              + ", "
              + (end - index.replayFrom())
              + " bytes");
    }
  }
}

package io.fasterkv.bench.checkpoints;

import io.fasterkv.Checkpoints;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code ./bench checkpoints list}. */
@Command(
    name = "list",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "A line for each checkpoint, oldest first; reads manifests alone.")
final class ListCommand implements Callable<Integer> {
  @Mixin Choice choice = new Choice();

  /** Set by picocli. */
  ListCommand() {}

  @Override
  public Integer call() {
    Checkpoints checkpoints = choice.checkpoints();
    TextTable table =
        new TextTable("number", "kind", "version", "log bytes", "index", "sessions", "file bytes");
    List<String> damaged = new ArrayList<>();
    for (CheckpointToken token : choice.chosen()) {
      try {
        add(checkpoints.describe(token), table);
      } catch (Corrupt e) {
        table.add(Long.toString(token.number()), "damaged", "-", "-", "-", "-", "-");
        damaged.add("checkpoint " + token.number() + ": DAMAGED: " + e.getMessage());
      }
    }
    PrintWriter out = choice.out();
    out.println(table);
    damaged.forEach(out::println);
    out.flush();
    return damaged.isEmpty() ? 0 : 1;
  }

  private static void add(CheckpointInfo info, TextTable table) {
    table.add(
        Long.toString(info.token().number()),
        Labels.of(info.kind()),
        Long.toString(info.version()),
        Long.toString(info.log().end() - info.log().begin()),
        Texts.image(info),
        Integer.toString(info.points().size()),
        Long.toString(info.files().stream().mapToLong(file -> Math.max(0, file.bytes())).sum()));
  }
}

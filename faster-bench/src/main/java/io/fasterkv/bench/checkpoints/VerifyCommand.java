package io.fasterkv.bench.checkpoints;

import io.fasterkv.Checkpoints;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointToken;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code ./bench checkpoints verify}. */
@Command(
    name = "verify",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Reads every byte and compares all checksums; of all, unless one is named.")
final class VerifyCommand implements Callable<Integer> {
  @Mixin Choice choice = new Choice();

  /** Set by picocli. */
  VerifyCommand() {}

  @Override
  public Integer call() {
    Checkpoints checkpoints = choice.checkpoints();
    List<CheckpointToken> tokens = choice.chosen();
    PrintWriter out = choice.out();
    boolean isWell = true;
    for (CheckpointToken token : tokens) {
      long begin = System.nanoTime();
      String result;
      try {
        checkpoints.verify(token);
        result = String.format(Locale.ROOT, "ok, %.1f s", (System.nanoTime() - begin) / 1e9);
      } catch (Corrupt e) {
        isWell = false;
        result = "DAMAGED: " + e.getMessage();
      }
      out.println("checkpoint " + token.number() + ": " + result);
      out.flush();
    }
    if (tokens.isEmpty()) {
      out.println("no checkpoints: directory=" + choice.directory);
      out.flush();
    }
    return isWell ? 0 : 1;
  }
}

package io.fasterkv.demo.screen;

import io.fasterkv.bench.report.Sizes;
import java.util.Locale;

/**
 * The values of the progress display at one moment.
 *
 * @param words words of the input read so far, 0 to {@code allWords}
 * @param allWords words of the input, 1 or more
 * @param wordsPerSecond the throughput of the last seconds, 0 or more
 * @param stateBytes the state in the newest completed checkpoint, in bytes, 0 if there is none
 * @param newest the id of that checkpoint, 0 if there is none
 * @param inFlight the id of the checkpoint in progress, 0 if there is none
 */
public record Tick(
    long words, long allWords, double wordsPerSecond, long stateBytes, long newest, long inFlight) {

  /** Returns how much of the input is read, 0 to 100. */
  public int percent() {
    return (int) (100 * words / allWords);
  }

  /** Formats everything except the percentage, always in the same columns. */
  public String text() {
    String checkpoint =
        inFlight > 0
            ? String.format(Locale.ROOT, "checkpoint %4d in flight", inFlight)
            : newest > 0
                ? String.format(Locale.ROOT, "checkpoint %4d done     ", newest)
                : "no checkpoint yet";
    return String.format(
        Locale.ROOT,
        "%5s words  %5s/s  state %8s  %-25s",
        Sizes.count((double) words),
        Sizes.count(wordsPerSecond),
        newest == 0 ? "-" : Sizes.bytes(stateBytes),
        checkpoint);
  }
}

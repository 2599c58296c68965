package io.fasterkv.bench.profile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * The frames of this project in which a process was seen most often.
 *
 * @param samples of all threads that ran Java code
 * @param frames the hottest first
 */
public record HotFrames(long samples, List<Frame> frames) {
  static final String SAMPLE = "jdk.ExecutionSample";
  private static final int MOST = 15;
  private static final String OURS = "io.fasterkv.";
  private static final List<String> NOT_OURS = List.of("io.fasterkv.bench.", "io.fasterkv.demo.");

  /** What the JVM adds to the name of a hidden class. */
  private static final Pattern HIDDEN = Pattern.compile("[/+.]0x[0-9a-f]+.*$");

  /**
   * A method.
   *
   * @param method with its class
   * @param share of the samples in it, or in what it called outside of this project
   * @param selfShare of the samples in it alone
   */
  public record Frame(String method, double share, double selfShare) {}

  private static final class Count {
    long all;
    long self;
  }

  /** Reads a recording. */
  public static HotFrames of(Path file) throws IOException {
    Map<String, Count> counts = new HashMap<>();
    long samples = 0;
    try (RecordingFile events = new RecordingFile(file)) {
      while (events.hasMoreEvents()) {
        RecordedEvent event = events.readEvent();
        if (event.getEventType().getName().equals(SAMPLE)) {
          samples++;
          count(event, counts);
        }
      }
    }
    return of(samples, counts);
  }

  private static void count(RecordedEvent event, Map<String, Count> counts) {
    if (event.getStackTrace() == null) {
      return;
    }
    List<RecordedFrame> frames = event.getStackTrace().getFrames();
    IntStream.range(0, frames.size())
        .filter(i -> isOurs(frames.get(i)))
        .findFirst()
        .ifPresent(i -> {
          Count count = counts.computeIfAbsent(name(frames.get(i)), method -> new Count());
          count.all++;
          count.self += i == 0 ? 1 : 0;
        });
  }

  private static boolean isOurs(RecordedFrame frame) {
    String type = frame.getMethod().getType().getName();
    return type.startsWith(OURS) && NOT_OURS.stream().noneMatch(type::startsWith);
  }

  private static String name(RecordedFrame frame) {
    String type = HIDDEN.matcher(frame.getMethod().getType().getName()).replaceFirst("");
    return type.substring(OURS.length()) + "." + frame.getMethod().getName();
  }

  private static HotFrames of(long samples, Map<String, Count> counts) {
    return new HotFrames(
        samples,
        counts.entrySet().stream()
            .map(entry ->
                new Frame(
                    entry.getKey(),
                    (double) entry.getValue().all / samples,
                    (double) entry.getValue().self / samples))
            .sorted(
                Comparator.comparingDouble(Frame::share).reversed().thenComparing(Frame::method))
            .limit(MOST)
            .toList());
  }
}

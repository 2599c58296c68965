package io.fasterkv.bench.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/** Records this process with the settings that the JDK calls {@code profile}. */
public final class Recorder implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofMillis(10);

  private final Recording recording;
  private final Path file;

  private Recorder(Recording recording, Path file) {
    this.recording = recording;
    this.file = file;
  }

  /**
   * Starts a recording.
   *
   * @param file where it will be; its directory is created if it is missing
   */
  public static Recorder start(Path file) throws IOException {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Recording recording = new Recording(Configuration.getConfiguration("profile"));
      recording.enable(HotFrames.SAMPLE).withPeriod(PERIOD);
      recording.start();
      return new Recorder(recording, file);
    } catch (ParseException e) {
      throw new IOException("the JDK's profile settings cannot be read", e);
    }
  }

  /** Ends the recording, and writes its file. */
  public HotFrames stop() throws IOException {
    recording.stop();
    recording.dump(file);
    return HotFrames.of(file);
  }

  @Override
  public void close() {
    recording.close();
  }
}

package io.fasterkv.bench.disk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Measures the disk with fio, using direct I/O. */
public final class Fio {
  /** What to do if it is missing. */
  public static final String HOW_TO_GET =
      "fio is missing, so only the store's own figures follow: apt-get install -y fio";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WRITE_BLOCK = "1m";
  private static final int WRITE_DEPTH = 8;

  private final Path program;
  private final Path file;
  private final long bytes;

  /**
   * @param file the file to read and write; created and removed by fio's runs and by {@link
   *     #delete}
   * @param bytes size of that file
   */
  public Fio(Path program, Path file, long bytes) {
    this.program = program;
    this.file = file;
    this.bytes = bytes;
  }

  /** Finds it on the search path. */
  public static Optional<Path> find() {
    String path = System.getenv("PATH");
    for (String directory : path == null ? new String[0] : path.split(":", -1)) {
      Path program = Path.of(directory, "fio");
      if (Files.isExecutable(program)) {
        return Optional.of(program);
      }
    }
    return Optional.empty();
  }

  /** Random reads a second of blocks of 4 KiB at a queue depth. */
  double randomReads(int depth, Duration duration) throws IOException {
    JsonNode job = run(duration, "--rw=randread", "--bs=4k", "--iodepth=" + depth, "--norandommap");
    return job.path("read").path("iops").asDouble();
  }

  /** Bytes a second of sequential writes in large blocks to a new file, durable at the end. */
  public double sequentialWrites(Duration duration) throws IOException {
    delete();
    JsonNode job =
        run(
            duration,
            "--rw=write",
            "--bs=" + WRITE_BLOCK,
            "--iodepth=" + WRITE_DEPTH,
            "--end_fsync=1");
    delete();
    return job.path("write").path("bw_bytes").asDouble();
  }

  /** Removes its file. */
  void delete() throws IOException {
    Files.deleteIfExists(file);
  }

  private JsonNode run(Duration duration, String... options) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                program.toString(),
                "--name=bench",
                "--filename=" + file,
                "--size=" + bytes,
                "--direct=1",
                "--ioengine=libaio",
                "--time_based",
                String.format(Locale.ROOT, "--runtime=%dms", duration.toMillis()),
                "--output-format=json"));
    command.addAll(List.of(options));
    String output = Commands.run(command);
    return job(output);
  }

  /** The only job in fio's report, which may follow some lines of notes. */
  static JsonNode job(String output) throws IOException {
    int begin = output.indexOf('{');
    JsonNode job = begin < 0 ? null : JSON.readTree(output.substring(begin)).path("jobs").path(0);
    if (job == null || job.isMissingNode()) {
      throw new IOException("fio has reported no job: output=" + output.strip());
    }
    return job;
  }
}

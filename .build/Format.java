import com.google.googlejavaformat.java.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs google-java-format over every Java file of the project.
 *
 * <p>Arguments: {@code check} or {@code write}; the directory to look in ({@code .} for all
 * modules); and the report, a file that names what is not formatted and is empty if all is well. A
 * file that cannot be parsed ends with status 2.
 */
final class Format {
  private Format() {}

  public static void main(String[] args) throws Exception {
    List<String> command =
        switch (args[0]) {
          case "check" -> new ArrayList<>(List.of("--dry-run"));
          case "write" -> new ArrayList<>(List.of("--replace"));
          default -> throw new IllegalArgumentException("unknown mode: format=" + args[0]);
        };
    command.addAll(sources(Path.of(args[1])));

    StringWriter changed = new StringWriter();
    PrintWriter out = new PrintWriter(changed, true);
    PrintWriter err = new PrintWriter(System.err, true);
    int status = new Main(out, err, System.in).format(command.toArray(String[]::new));
    err.flush();
    Path report = Path.of(args[2]);
    Files.createDirectories(report.getParent());
    Files.writeString(report, changed.toString());
    System.exit(status == 0 ? 0 : 2);
  }

  private static List<String> sources(Path root) throws IOException {
    try (Stream<Path> walk = Files.walk(root)) {
      return walk.filter(file -> file.toString().endsWith(".java"))
          .filter(Format::isSource)
          .map(Path::toString)
          .sorted()
          .toList();
    }
  }

  private static boolean isSource(Path file) {
    for (Path part : file) {
      String name = part.toString();
      if (name.equals("target") || name.startsWith("target-") || name.equals(".git")) {
        return false;
      }
    }
    return true;
  }
}

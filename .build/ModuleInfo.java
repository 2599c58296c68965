import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;
import java.util.zip.ZipFile;

/**
 * Adds module-info.class to a jar, unless the jar contains it already: a jar that is written again
 * makes Maven compile all modules again that depend on it.
 *
 * <p>Arguments: the jar; the directory of its classes; the date of the entry; and the version of
 * the module.
 */
final class ModuleInfo {
  private static final String NAME = "module-info.class";

  private ModuleInfo() {}

  public static void main(String[] args) throws IOException {
    Path jar = Path.of(args[0]);
    Path classes = Path.of(args[1]);
    if (isIn(jar, classes.resolve(NAME))) {
      return;
    }
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    System.exit(
        tool.run(
            System.out,
            System.err,
            "--update",
            "--file=" + jar,
            "--date=" + args[2],
            "--module-version=" + args[3],
            "-C",
            classes.toString(),
            NAME));
  }

  /** The jar plugin writes a new jar without it. */
  private static boolean isIn(Path jar, Path compiled) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.getEntry(NAME) != null
          && Files.getLastModifiedTime(jar).compareTo(Files.getLastModifiedTime(compiled)) >= 0;
    }
  }
}

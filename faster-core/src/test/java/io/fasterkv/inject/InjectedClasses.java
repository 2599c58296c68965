package io.fasterkv.inject;

import io.fasterkv.FasterStore;
import io.fasterkv.ReloadedClasses;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Loads the store's classes again with a call of {@link Hooks} at every point. The store reads the
 * class files of its own fast path: it gets these with points, too.
 */
final class InjectedClasses extends ReloadedClasses {
  /** Classes shared by both class loaders. */
  private static final Set<String> SHARED =
      Set.of(Trials.class.getName(), Report.class.getName(), Order.class.getName());

  private final PointWriter writer;
  private final UnaryOperator<byte[]> variant;
  private final Path root;

  /**
   * @param variant changes a class of the store after the points were inserted
   */
  InjectedClasses(Points points, UnaryOperator<byte[]> variant) {
    super(SHARED);
    writer = new PointWriter(points, new CallKinds());
    this.variant = variant;
    try {
      root = Path.of(FasterStore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /** Creates an object that runs workloads on these classes. */
  Trials trials() {
    return create(Workbench.class.getName(), Trials.class);
  }

  @Override
  public InputStream getResourceAsStream(String name) {
    Path file = root.resolve(name);
    if (!name.startsWith("io/fasterkv/") || !Files.isRegularFile(file)) {
      return super.getResourceAsStream(name);
    }
    try {
      return new ByteArrayInputStream(variant.apply(writer.write(Files.readAllBytes(file))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

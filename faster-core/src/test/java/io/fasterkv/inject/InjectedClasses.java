package io.fasterkv.inject;

import io.fasterkv.FasterStore;
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
 * The store's classes once more, with a call of {@link Hooks} at every point; and the classes of
 * its tests, so that a workload runs on them. The store reads the class files of its own fast path:
 * it gets these with points, too.
 */
final class InjectedClasses extends ClassLoader {
  /** What both sides share. */
  private static final Set<String> SHARED =
      Set.of(Trials.class.getName(), Report.class.getName(), Order.class.getName());

  private final PointWriter writer;
  private final UnaryOperator<byte[]> variant;
  private final Path root;

  /**
   * @param variant changes a class of the store after points were written into it
   */
  InjectedClasses(Points points, UnaryOperator<byte[]> variant) {
    super(InjectedClasses.class.getClassLoader());
    writer = new PointWriter(points, new CallKinds());
    this.variant = variant;
    try {
      root = Path.of(FasterStore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /** What runs a workload on these classes. */
  Trials trials() {
    try {
      var constructor = loadClass(Workbench.class.getName()).getDeclaredConstructor();
      constructor.setAccessible(true);
      return (Trials) constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("io.fasterkv.") || SHARED.contains(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = file.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
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

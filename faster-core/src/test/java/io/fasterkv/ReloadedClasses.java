package io.fasterkv;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;

/**
 * Loads the store's classes again, changed, and the classes of its tests, so that the tests run on
 * them. Code that runs on them is given by class name and created without arguments.
 */
public abstract class ReloadedClasses extends ClassLoader {
  /** Names of the classes shared by both class loaders. */
  private final Set<String> shared;

  protected ReloadedClasses(Set<String> shared) {
    super(ReloadedClasses.class.getClassLoader());
    this.shared = Set.copyOf(shared);
  }

  /**
   * Changes a class before it is loaded.
   *
   * @param bytes its class file
   */
  protected byte[] changed(String name, byte[] bytes) {
    return bytes;
  }

  /** Creates an object of one of these classes; the caller uses it by a shared type. */
  public final <T> T create(String type, Class<T> seenAs) {
    try {
      var constructor = loadClass(type).getDeclaredConstructor();
      constructor.setAccessible(true);
      return seenAs.cast(constructor.newInstance());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Override
  protected final Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("io.fasterkv.") || shared.contains(name)) {
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
      byte[] bytes = changed(name, file.readAllBytes());
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}

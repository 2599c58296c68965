package io.fasterkv.bench.cpr.rows;

import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.BenchStore;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.store.StoreSettings;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Loads a store's classes and the loops that call it separately from all others of the same names.
 * So two versions of the store run in one process, each with call sites and compiled code of its
 * own. Types that the loops share with their caller are the caller's.
 */
final class IsolatedClasses extends URLClassLoader {
  private static final String OWN = "io.fasterkv.";
  private static final String WORKLOAD = "io.fasterkv.bench.workload.";
  private static final Set<String> SHARED =
      Set.of(
          BenchStore.class.getName(), BenchSession.class.getName(), StoreSettings.class.getName());

  /**
   * @param store the store's jar or directory of classes
   */
  IsolatedClasses(Path store) throws IOException {
    super(
        new URL[] {url(store), StoreKind.class.getProtectionDomain().getCodeSource().getLocation()},
        IsolatedClasses.class.getClassLoader());
  }

  private static URL url(Path path) throws MalformedURLException {
    return path.toUri().toURL();
  }

  private static boolean isOwn(String name) {
    return name.startsWith(OWN) && !name.startsWith(WORKLOAD) && !SHARED.contains(name);
  }

  /** Opens an empty store with these classes. */
  BenchStore open(StoreSettings settings) {
    try {
      Class<?> kind = loadClass(StoreKind.class.getName());
      Object faster = kind.getField(StoreKind.FASTER.name()).get(null);
      return (BenchStore) kind.getMethod("open", StoreSettings.class).invoke(faster, settings);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new IllegalStateException(
          "the store's classes do not fit this benchmark: classes=" + List.of(getURLs()), e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!isOwn(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded == null) {
        loaded = findClass(name);
      }
      if (resolve) {
        resolveClass(loaded);
      }
      return loaded;
    }
  }

  /** A store defines some of its class files again: these must be its own as well. */
  @Override
  public @Nullable URL getResource(String name) {
    return isOwn(name.replace('/', '.')) ? findResource(name) : super.getResource(name);
  }
}

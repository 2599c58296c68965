package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;

/** Inspects the classes that are created for a store. */
final class PathClasses {
  private static final int COLLECTIONS = 200;

  private PathClasses() {}

  /** The class of the object in nested private fields; null if there is none. */
  static @Nullable Class<?> in(Object outer, String... fields) {
    Object at = outer;
    for (String name : fields) {
      try {
        Field field = at.getClass().getDeclaredField(name);
        field.setAccessible(true);
        at = field.get(at);
      } catch (ReflectiveOperationException e) {
        throw new LinkageError(e.getMessage(), e);
      }
    }
    return at == null ? null : at.getClass();
  }

  static void assertGoes(WeakReference<Class<?>> reference) {
    for (int i = 0; i < COLLECTIONS && reference.get() != null; i++) {
      System.gc();
    }
    assertThat(reference.get()).isNull();
  }
}

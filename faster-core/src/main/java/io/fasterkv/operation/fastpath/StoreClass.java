package io.fasterkv.operation.fastpath;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;

/**
 * Defines an ordinary class of this package again, as a hidden class that has one store's memory as
 * its constants: the effect of code generation (SIGMOD'18, appendix E) without generating code. A
 * hidden class is unloaded when nothing refers to it.
 */
final class StoreClass {
  private static final ClassValue<byte[]> CLASS_FILES =
      new ClassValue<>() {
        @Override
        protected byte[] computeValue(Class<?> template) {
          return read(template);
        }
      };

  private StoreClass() {}

  /** The constructor of a class like {@code template} that sees {@code constants} as its own. */
  static MethodHandle constructor(
      Class<?> template, StoreConstants constants, Class<?>... parameters) {
    try {
      Lookup hidden =
          MethodHandles.lookup()
              .defineHiddenClassWithClassData(CLASS_FILES.get(template), constants, true);
      return hidden.findConstructor(
          hidden.lookupClass(), MethodType.methodType(void.class, parameters));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("a session's class cannot be defined: " + e, e);
    }
  }

  /** Calls a constructor. */
  static Object make(MethodHandle constructor, Object... arguments) {
    try {
      return constructor.invokeWithArguments(arguments);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("a session's class cannot be made: " + e, e);
    }
  }

  private static byte[] read(Class<?> template) {
    String name = template.getSimpleName() + ".class";
    try (InputStream in = template.getResourceAsStream(name)) {
      if (in == null) {
        throw new LinkageError("a class file is missing: name=" + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

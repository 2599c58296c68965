package io.fasterkv.operation;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.IndexView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the short ways of one store's sessions: code generation (SIGMOD'18, appendix E) without
 * generating any. {@link LongMemoryPath} is read as a class file and defined again as a hidden
 * class that has this store's memory as its constants: once for each class of functions, so that
 * the functions are called from a place that knows no others, and anew when the index has another
 * size.
 *
 * <p>A hidden class goes when nothing refers to it any more, and nothing does but this object and
 * the sessions.
 */
public final class LongPaths {
  static final LongPath NONE = new LongPath.None();

  private static final MethodType CONSTRUCTOR =
      MethodType.methodType(
          void.class,
          LongFunctions.class,
          EpochUser.class,
          ChainSteps.Stripe.class,
          BlindAppend.class);

  private final Engine engine;
  private final Map<Class<?>, MethodHandle> constructors = new HashMap<>();
  private @Nullable IndexTable table;

  public LongPaths(Engine engine) {
    this.engine = engine;
  }

  /** A path for a session; {@link #NONE} while the index is being resized. */
  LongPath path(LongFunctions<?> functions, EpochUser user, ChainSteps.Stripe steps) {
    IndexTable now = engine.index().quietTable();
    if (now == null) {
      return NONE;
    }
    try {
      return (LongPath)
          constructor(now, functions.getClass())
              .invoke(functions, user, steps, new BlindAppend(engine, steps));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("a session's class cannot be made: " + e, e);
    }
  }

  private synchronized MethodHandle constructor(IndexTable now, Class<?> functions) {
    if (now != table) {
      constructors.clear();
      table = now;
    }
    return constructors.computeIfAbsent(functions, any -> define(now));
  }

  private MethodHandle define(IndexTable now) {
    LongMemoryPath.Constants constants =
        new LongMemoryPath.Constants(engine.index(), IndexView.of(now), engine.log().view());
    try {
      Lookup hidden =
          MethodHandles.lookup()
              .defineHiddenClassWithClassData(Template.CLASS_FILE, constants, true);
      return hidden.findConstructor(hidden.lookupClass(), CONSTRUCTOR);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("a session's class cannot be defined: " + e, e);
    }
  }

  /** The class file that is defined again and again. */
  private static final class Template {
    static final byte[] CLASS_FILE = read();

    private static byte[] read() {
      String name = LongMemoryPath.class.getSimpleName() + ".class";
      try (InputStream in = LongMemoryPath.class.getResourceAsStream(name)) {
        if (in == null) {
          throw new LinkageError("a class file is missing: name=" + name);
        }
        return in.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}

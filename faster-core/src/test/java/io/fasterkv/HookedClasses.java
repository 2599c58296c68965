package io.fasterkv;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Set;

/**
 * The store's classes once more, with a stop before and after one method: for interleavings in
 * which a thread stands between two instructions and no callback is near. What runs in them is a
 * class of theirs too, so it is named, and made without arguments.
 */
final class HookedClasses extends ClassLoader {
  /** What both sides have to share. */
  private static final Set<String> SHARED =
      Set.of(Hook.class.getName(), Pause.class.getName(), "io.fasterkv.Pause$1");

  private final String hookedClass;
  private final String hookedMethod;

  private HookedClasses(String hookedClass, String hookedMethod) {
    super(HookedClasses.class.getClassLoader());
    this.hookedClass = hookedClass;
    this.hookedMethod = hookedMethod;
  }

  /**
   * A new object of a class of this package, which sees classes that call {@link Hook#at} before
   * and after a method.
   *
   * @param hooked the name of the method's class
   */
  static <T> T create(Class<? extends T> type, Class<T> seenAs, String hooked, String method) {
    try {
      var classes = new HookedClasses(hooked, method);
      var constructor = classes.loadClass(type.getName()).getDeclaredConstructor();
      constructor.setAccessible(true);
      return seenAs.cast(constructor.newInstance());
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
    byte[] bytes;
    try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      bytes = file.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
    byte[] seen = name.equals(hookedClass) ? hooked(bytes) : bytes;
    return defineClass(name, seen, 0, seen.length);
  }

  private byte[] hooked(byte[] bytes) {
    ClassFile classFile = ClassFile.of();
    var model = classFile.parse(bytes);
    if (model.methods().stream().noneMatch(it -> it.methodName().equalsString(hookedMethod))) {
      throw new LinkageError("no such method: " + hookedClass + "." + hookedMethod);
    }
    return classFile.transformClass(
        model,
        ClassTransform.transformingMethodBodies(
            method -> method.methodName().equalsString(hookedMethod), new Stops()));
  }

  /** Calls the hook before the first instruction, and before each return. */
  private static final class Stops implements CodeTransform {
    private static final ClassDesc HOOK = ClassDesc.of(Hook.class.getName());

    @Override
    public void atStart(CodeBuilder builder) {
      stop(builder, Hook.BEFORE);
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      if (element instanceof ReturnInstruction) {
        stop(builder, Hook.AFTER);
      }
      builder.with(element);
    }

    private static void stop(CodeBuilder builder, String where) {
      builder.ldc(where);
      builder.invokestatic(
          HOOK, "at", MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String));
    }
  }
}

package io.fasterkv;

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
 * Loads the store's classes again with a stop before and after one method, for interleavings in
 * which a thread stops between two instructions far from any callback.
 */
final class HookedClasses extends ReloadedClasses {
  /** Classes shared by test and hooked code. */
  private static final Set<String> SHARED =
      Set.of(Hook.class.getName(), Pause.class.getName(), "io.fasterkv.Pause$1");

  private final String hookedClass;
  private final String hookedMethod;

  private HookedClasses(String hookedClass, String hookedMethod) {
    super(SHARED);
    this.hookedClass = hookedClass;
    this.hookedMethod = hookedMethod;
  }

  /**
   * Creates an object of a class of this package, with classes that call {@link Hook#at} before and
   * after a method.
   *
   * @param hooked the name of the method's class
   */
  static <T> T create(Class<? extends T> type, Class<T> seenAs, String hooked, String method) {
    return new HookedClasses(hooked, method).create(type.getName(), seenAs);
  }

  @Override
  protected byte[] changed(String name, byte[] bytes) {
    return name.equals(hookedClass) ? hooked(bytes) : bytes;
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

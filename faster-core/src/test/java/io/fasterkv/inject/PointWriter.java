package io.fasterkv.inject;

import io.fasterkv.inject.Point.Kind;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Inserts a call of {@link Hooks} into a class at every point. */
final class PointWriter {
  private static final ClassDesc HOOKS = ClassDesc.of(Hooks.class.getName());
  private static final MethodTypeDesc AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

  private final Points points;
  private final CallKinds calls;

  PointWriter(Points points, CallKinds calls) {
    this.points = points;
    this.calls = calls;
  }

  byte[] write(byte[] bytes) {
    ClassFile classFile = ClassFile.of();
    ClassModel model = classFile.parse(bytes);
    String name = model.thisClass().name().stringValue();
    String simple = name.substring(name.lastIndexOf('/') + 1);
    return classFile.transformClass(
        model,
        (builder, element) -> {
          if (element instanceof MethodModel method && isWritten(method)) {
            String where = simple + "." + method.methodName().stringValue();
            Code code =
                new Code(
                    name, where, isLeaf(method.code().orElseThrow()), Overload.of(model, method));
            builder.transformMethod(method, MethodTransform.transformingCode(code));
          } else {
            builder.with(element);
          }
        });
  }

  private static boolean isWritten(MethodModel method) {
    return method.code().isPresent() && !method.methodName().equalsString("<clinit>");
  }

  /** Whether a method neither calls nor allocates anything. */
  private static boolean isLeaf(CodeModel code) {
    return code.elementStream().noneMatch(it -> it instanceof InvokeInstruction || isNew(it));
  }

  private static boolean isNew(CodeElement element) {
    return element instanceof NewObjectInstruction
        || element instanceof NewPrimitiveArrayInstruction
        || element instanceof NewReferenceArrayInstruction
        || element instanceof NewMultiArrayInstruction
        || (element instanceof InvokeDynamicInstruction lambda
            // A lambda that captures nothing is created once, when it is linked.
            && lambda.typeSymbol().parameterCount() > 0);
  }

  /** Distinguishes methods of the same name. */
  private static final class Overload {
    private Overload() {}

    static int of(ClassModel model, MethodModel method) {
      int number = 0;
      for (MethodModel other : model.methods()) {
        if (other == method) {
          return number;
        }
        number += other.methodName().equals(method.methodName()) ? 1 : 0;
      }
      return number;
    }
  }

  /** The points of one method. */
  private final class Code implements CodeTransform {
    private final String type;
    private final String where;
    private final boolean isLeaf;
    private int next;

    Code(String type, String where, boolean isLeaf, int overload) {
      this.type = type;
      this.where = overload == 0 ? where : where + "'" + overload;
      this.isLeaf = isLeaf;
    }

    @Override
    public void atStart(CodeBuilder builder) {
      if (!isLeaf) {
        point(builder, Kind.ENTRY, "");
      }
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      switch (element) {
        case InvokeInstruction call -> call(builder, call);
        case CodeElement other when isNew(other) -> {
          point(builder, Kind.NEW, "");
          builder.with(other);
        }
        default -> builder.with(element);
      }
    }

    private void call(CodeBuilder builder, InvokeInstruction call) {
      String owner = call.owner().name().stringValue();
      String method = call.name().stringValue();
      Kind kind = owner.equals(type) ? null : calls.kind(owner, method);
      if (owner.equals("java/lang/foreign/Arena") && method.equals("ofShared")) {
        point(builder, Kind.NEW, "");
        builder.invokestatic(HOOKS, "ofShared", call.typeSymbol());
        return;
      }
      if (kind == null) {
        builder.with(call);
        return;
      }
      String called = " " + owner.substring(owner.lastIndexOf('/') + 1) + "." + method;
      if (calls.isPointBefore(method)) {
        point(builder, kind, " before" + called);
      }
      builder.with(call);
      if (calls.isPointAfter(kind, method, call.type().stringValue())) {
        point(builder, kind, " after" + called);
      }
    }

    private void point(CodeBuilder builder, Kind kind, String what) {
      Point point = new Point(kind, where + "#" + next++ + what);
      builder.loadConstant(points.number(point)).invokestatic(HOOKS, "at", AT);
    }
  }
}

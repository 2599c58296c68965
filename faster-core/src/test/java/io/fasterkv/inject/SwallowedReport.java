package io.fasterkv.inject;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.util.function.UnaryOperator;

/**
 * A flusher that loses the report of a write when an Error is thrown. It is a control: the harness
 * must detect the hang.
 */
final class SwallowedReport implements UnaryOperator<byte[]> {
  private static final String CLASS = "io/fasterkv/log/PageFlusher$Write";
  private static final String METHOD = "completed";

  /** The point where the report begins. */
  static final String POINT = "ENTRY:PageFlusher$Write.completed#0";

  private int changed;

  /** Whether the method was found and changed. */
  boolean hasChanged() {
    return changed > 0;
  }

  @Override
  public byte[] apply(byte[] bytes) {
    ClassFile classFile = ClassFile.of();
    ClassModel model = classFile.parse(bytes);
    if (!model.thisClass().asInternalName().equals(CLASS)) {
      return bytes;
    }
    return classFile.transformClass(
        model,
        (builder, element) -> {
          if (element instanceof MethodModel method && method.methodName().equalsString(METHOD)) {
            changed++;
            builder.transformMethod(method, MethodTransform.transformingCode(new Swallows()));
          } else {
            builder.with(element);
          }
        });
  }

  /** Makes the method return normally whatever it throws. */
  private static final class Swallows implements CodeTransform {
    private Label start;

    @Override
    public void atStart(CodeBuilder builder) {
      start = builder.newBoundLabel();
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      builder.with(element);
    }

    @Override
    public void atEnd(CodeBuilder builder) {
      Label handler = builder.newBoundLabel();
      builder.pop().return_();
      builder.exceptionCatchAll(start, handler, handler);
    }
  }
}

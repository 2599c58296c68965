package io.fasterkv.arch;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Set;
import java.util.stream.Stream;

/** Checks that the types in a class's visible signatures are in exported packages or not ours. */
final class ExposeOnly extends ArchCondition<JavaClass> {
  private final Set<String> exported;

  ExposeOnly(Set<String> exported) {
    super("expose only types of " + exported);
    this.exported = exported;
  }

  @Override
  public void check(JavaClass type, ConditionEvents events) {
    Stream<JavaType> parents =
        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
    parents.forEach(parent -> checkTypes(type, "extends", parent, events));
    type.getMembers().stream()
        .filter(ExposeOnly::isVisible)
        .forEach(member -> checkMember(type, member, events));
  }

  private void checkMember(JavaClass type, JavaMember member, ConditionEvents events) {
    switch (member) {
      case JavaField field -> checkTypes(type, field.getFullName(), field.getType(), events);
      case JavaCodeUnit code -> {
        String name = code.getFullName();
        checkTypes(type, name, code.getReturnType(), events);
        code.getParameterTypes().forEach(parameter -> checkTypes(type, name, parameter, events));
        code.getExceptionTypes().forEach(thrown -> checkTypes(type, name, thrown, events));
      }
      default -> throw new AssertionError("unexpected kind of member: member=" + member);
    }
  }

  private void checkTypes(JavaClass owner, String where, JavaType type, ConditionEvents events) {
    for (JavaClass involved : type.getAllInvolvedRawTypes()) {
      boolean isOurs = involved.getPackageName().startsWith("io.fasterkv");
      boolean isFine = !isOurs || exported.contains(involved.getPackageName());
      String message = "not exported: type=" + involved.getName() + ", where=" + where;
      events.add(new SimpleConditionEvent(owner, isFine, message));
    }
  }

  private static boolean isVisible(JavaMember member) {
    Set<JavaModifier> modifiers = member.getModifiers();
    return (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
        && !modifiers.contains(JavaModifier.SYNTHETIC);
  }
}

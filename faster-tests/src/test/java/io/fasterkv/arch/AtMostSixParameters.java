package io.fasterkv.arch;

import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.lang.reflect.Parameter;
import java.util.Arrays;

/**
 * Checks that a constructor has at most six parameters, not counting those that the compiler adds.
 */
final class AtMostSixParameters extends ArchCondition<JavaConstructor> {
  private static final int ALLOWED = 6;

  AtMostSixParameters() {
    super("have at most " + ALLOWED + " parameters");
  }

  @Override
  public void check(JavaConstructor constructor, ConditionEvents events) {
    long count =
        Arrays.stream(constructor.reflect().getParameters())
            .filter(AtMostSixParameters::isWritten)
            .count();
    String message =
        "too many parameters: constructor=%s, parameters=%d, allowed=up to %d"
            .formatted(constructor.getFullName(), count, ALLOWED);
    events.add(new SimpleConditionEvent(constructor, count <= ALLOWED, message));
  }

  private static boolean isWritten(Parameter parameter) {
    return !parameter.isSynthetic() && !parameter.isImplicit();
  }
}

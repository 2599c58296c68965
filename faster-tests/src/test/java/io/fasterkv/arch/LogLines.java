package io.fasterkv.arch;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaMethodCall;

/** Finds calls of {@link System.Logger}. */
final class LogLines {
  /** {@link System#getLogger}. */
  static final DescribedPredicate<JavaMethodCall> CHOOSES_A_LOGGER =
      DescribedPredicate.describe(
          "call of System.getLogger",
          call ->
              call.getTargetOwner().isEquivalentTo(System.class)
                  && call.getName().equals("getLogger"));

  /**
   * A call with a format and its parameters. It would print 1048576 as 1,048,576 and drop each
   * apostrophe that is not doubled.
   */
  static final DescribedPredicate<JavaMethodCall> TAKES_PARAMETERS =
      DescribedPredicate.describe(
          "call of System.Logger.log with a format",
          call ->
              call.getTargetOwner().isAssignableTo(System.Logger.class)
                  && call.getName().equals("log")
                  && call.getTarget().getRawParameterTypes().getLast().isArray());

  private LogLines() {}
}

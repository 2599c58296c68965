package io.fasterkv.inject;

import java.util.List;

/**
 * One run of a campaign, as given by its properties.
 *
 * @param point its name, or that of all allocations
 */
record Replay(String point, int setting, long visit, long times, Class<? extends Error> error) {
  static final String EVERY_ALLOCATION = "every allocation";

  static boolean isWanted() {
    return System.getProperty("inject.point") != null;
  }

  /** The run that {@code -Dinject.point} and the related properties select. */
  static Replay wanted() {
    String error = System.getProperty("inject.error");
    List<Class<? extends Error>> errors = Campaign.ERRORS;
    return new Replay(
        System.getProperty("inject.point"),
        Integer.getInteger("inject.setting"),
        Long.getLong("inject.visit"),
        Long.getLong("inject.times"),
        errors.stream().filter(it -> it.getSimpleName().equals(error)).findFirst().orElseThrow());
  }

  @Override
  public String toString() {
    return "-Dinject.point='"
        + point
        + "' -Dinject.setting="
        + setting
        + " -Dinject.visit="
        + visit
        + " -Dinject.times="
        + times
        + " -Dinject.error="
        + error.getSimpleName();
  }
}

package io.fasterkv.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the classes of a package that depend on each other, directly or through other classes of
 * the package. A nested class counts as its outermost class.
 */
final class Knots {
  /** No room may have a knot of more classes. */
  private static final int MOST_CLASSES = 3;

  private Knots() {}

  /** Fails if a room has a knot of more classes than allowed; by default a room has no knot. */
  static void check(
      Collection<String> rooms, Iterable<JavaClass> all, Map<String, Integer> allowed) {
    assertThat(allowed.values()).allMatch(size -> size <= MOST_CLASSES);
    for (String room : rooms) {
      assertThat(within(room, all))
          .as(room)
          .allMatch(knot -> knot.size() <= allowed.getOrDefault(room, 0));
    }
  }

  /** The knots of a package: sets of two or more classes. */
  private static Set<Set<String>> within(String room, Iterable<JavaClass> all) {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : all) {
      if (type.getPackageName().equals(room)) {
        Set<String> used = uses.computeIfAbsent(outermost(type), any -> new TreeSet<>());
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
          JavaClass target = dependency.getTargetClass().getBaseComponentType();
          if (target.getPackageName().equals(room)) {
            used.add(outermost(target));
          }
        }
      }
    }
    Map<String, Set<String>> reached = new TreeMap<>();
    uses.keySet().forEach(from -> reached.put(from, reachedFrom(from, uses)));
    Set<Set<String>> knots = new LinkedHashSet<>();
    for (String one : reached.keySet()) {
      Set<String> knot = new TreeSet<>(Set.of(one));
      for (String other : reached.get(one)) {
        if (reached.getOrDefault(other, Set.of()).contains(one)) {
          knot.add(other);
        }
      }
      if (knot.size() > 1) {
        knots.add(knot);
      }
    }
    return knots;
  }

  private static Set<String> reachedFrom(String from, Map<String, Set<String>> uses) {
    Set<String> seen = new TreeSet<>();
    Deque<String> next = new ArrayDeque<>(Set.of(from));
    while (!next.isEmpty()) {
      for (String used : uses.getOrDefault(next.remove(), Set.of())) {
        if (seen.add(used)) {
          next.add(used);
        }
      }
    }
    return seen;
  }

  private static String outermost(JavaClass type) {
    return type.getName().replaceAll("\\$.*", "");
  }
}

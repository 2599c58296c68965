package io.fasterkv.inject;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All points of the classes loaded so far, by number. Safe for all threads. */
final class Points {
  private final List<Point> all = new ArrayList<>();
  private final Map<Point, Integer> numbers = new HashMap<>();

  /** The number of a point; a class that is read again has the same points. */
  synchronized int number(Point point) {
    return numbers.computeIfAbsent(
        point,
        added -> {
          all.add(added);
          return all.size() - 1;
        });
  }

  synchronized Point get(int number) {
    return all.get(number);
  }

  /** The number of the point with a name; the class that contains it must have been loaded. */
  synchronized int find(String name) {
    for (int number = 0; number < all.size(); number++) {
      if (all.get(number).toString().equals(name)) {
        return number;
      }
    }
    throw new IllegalArgumentException("no such point was visited: name=" + name);
  }

  synchronized int count() {
    return all.size();
  }
}

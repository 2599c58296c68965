package io.fasterkv.cpr;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** For each operation that still counts, the life of the store in which it was executed. */
final class Lives {
  /** For each session, by first serial number: the life of the operations from that number on. */
  private final List<NavigableMap<Long, Integer>> bySession = new ArrayList<>();

  Lives(int sessions) {
    for (int i = 0; i < sessions; i++) {
      bySession.add(new TreeMap<>());
      bySession.get(i).put(1L, 0);
    }
  }

  Lives(Lives other) {
    other.bySession.forEach(lives -> bySession.add(new TreeMap<>(lives)));
  }

  /**
   * Begins a life in which a session continues after its commit point: its later operations are
   * void.
   */
  void begin(int life, int session, long point) {
    NavigableMap<Long, Integer> lives = bySession.get(session);
    lives.tailMap(point, false).clear();
    lives.put(point + 1, life);
  }

  /** Encodes the lives as text, for another process. */
  String encode() {
    return bySession.stream()
        .map(lives ->
            lives.entrySet().stream()
                .map(life -> life.getKey() + "=" + life.getValue())
                .collect(Collectors.joining(",")))
        .collect(Collectors.joining(";"));
  }

  static Lives decode(String text) {
    String[] sessions = text.split(";");
    Lives lives = new Lives(sessions.length);
    for (int session = 0; session < sessions.length; session++) {
      for (String life : sessions[session].split(",")) {
        String[] pair = life.split("=");
        lives.bySession.get(session).put(Long.parseLong(pair[0]), Integer.parseInt(pair[1]));
      }
    }
    return lives;
  }

  int of(int session, long serial) {
    return bySession.get(session).floorEntry(serial).getValue();
  }
}

package io.fasterkv.bench.events;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.flink.table.data.StringData;

/** The texts of persons. */
final class Persons {
  static final List<String> STATES = List.of("AZ", "CA", "ID", "OR", "WA", "WY");

  private static final List<String> CITIES =
      List.of(
          "Phoenix",
          "Los Angeles",
          "San Francisco",
          "Boise",
          "Portland",
          "Bend",
          "Redmond",
          "Seattle",
          "Kent",
          "Cheyenne");
  private static final List<String> FIRST =
      List.of("Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "John", "Leslie");
  private static final List<String> LAST =
      List.of("Allen", "Dijkstra", "Hopper", "Knuth", "Lamport", "Liskov", "Lovelace", "Turing");
  private static final int MAILBOX = 7;
  private static final int HOST = 5;
  private static final int CARD_GROUPS = 4;
  private static final int CARD_GROUP = 10_000;

  private final EventRandom random;
  private final Texts texts;

  Persons(EventRandom random, Texts texts) {
    this.random = random;
    this.texts = texts;
  }

  byte[] name() {
    return Texts.utf8(one(FIRST) + " " + one(LAST));
  }

  byte[] mail() {
    return Texts.utf8(letters(MAILBOX) + "@" + letters(HOST) + ".com");
  }

  byte[] card() {
    StringBuilder card = new StringBuilder();
    for (int i = 0; i < CARD_GROUPS; i++) {
      String group = Long.toString(CARD_GROUP + random.below(CARD_GROUP)).substring(1);
      card.append(i == 0 ? "" : " ").append(group);
    }
    return Texts.utf8(card.toString());
  }

  StringData city() {
    return StringData.fromString(one(CITIES));
  }

  StringData state() {
    return StringData.fromString(one(STATES));
  }

  private String letters(int length) {
    return new String(texts.letters(length), StandardCharsets.US_ASCII);
  }

  private String one(List<String> of) {
    return of.get((int) random.below(of.size()));
  }
}

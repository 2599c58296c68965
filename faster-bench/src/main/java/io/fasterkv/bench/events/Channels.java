package io.fasterkv.bench.events;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.flink.table.data.StringData;

/** The channels of bids: half of the bids use one of four, the others one of ten thousand. */
final class Channels {
  static final List<String> HOT = List.of("Google", "Facebook", "Baidu", "Apple");
  static final int OTHERS = 10_000;

  private static final int PARTS = 3;
  private static final int PART = 5;

  private final StringData[] names = new StringData[HOT.size() + OTHERS];
  private final StringData[] urls = new StringData[HOT.size() + OTHERS];

  /** The same names and addresses for every run. */
  Channels() {
    EventRandom random = new EventRandom(0);
    Texts texts = new Texts(random);
    for (int i = 0; i < names.length; i++) {
      random.begin(i);
      boolean isHot = i < HOT.size();
      int other = i - HOT.size();
      names[i] = StringData.fromString(isHot ? HOT.get(i) : "channel-" + other);
      String url = url(texts);
      boolean hasId = !isHot && random.below(10) > 0;
      urls[i] =
          StringData.fromString(
              hasId ? url + "&channel_id=" + (Integer.reverse(other) & Integer.MAX_VALUE) : url);
    }
  }

  private static String url(Texts texts) {
    StringBuilder url = new StringBuilder("https://www.nexmark.com/");
    for (int i = 0; i < PARTS; i++) {
      url.append(new String(texts.letters(PART), StandardCharsets.US_ASCII)).append('/');
    }
    return url.append("item.htm?query=1").toString();
  }

  /** Chooses a channel for a bid. */
  int choose(EventRandom random) {
    return random.below(2) > 0
        ? (int) random.below(HOT.size())
        : HOT.size() + (int) random.below(OTHERS);
  }

  StringData name(int channel) {
    return names[channel];
  }

  StringData url(int channel) {
    return urls[channel];
  }
}

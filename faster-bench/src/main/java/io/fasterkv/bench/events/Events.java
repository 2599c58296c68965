package io.fasterkv.bench.events;

import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/**
 * Creates the events of a seed, by number, in any order: rows of type, person, auction, bid and
 * time, of which two of the middle three are null. For one thread.
 */
public final class Events {
  /** Types of events. */
  public static final int PERSON = 0;

  public static final int AUCTION = 1;
  public static final int BID = 2;

  private static final int PERSON_BYTES = 200;
  private static final int AUCTION_BYTES = 500;
  private static final int BID_BYTES = 100;
  private static final int LONG_FIELDS_OF_AUCTION = 8 * 8;
  private static final int LONG_FIELDS_OF_BID = 4 * 8;
  private static final int ITEM_NAME = 20;
  private static final int DESCRIPTION = 100;
  private static final long FIRST_CATEGORY = 10;
  private static final int CATEGORIES = 5;

  /** How many events it takes until {@link Ids#OPEN_AUCTIONS} more auctions are open. */
  private static final long EVENTS_OF_OPEN_AUCTIONS =
      (long) Ids.OPEN_AUCTIONS * Ids.PERIOD / Ids.AUCTIONS;

  private final EventRandom random;
  private final Ids ids;
  private final Texts texts;
  private final Persons persons;
  private final Channels channels = new Channels();

  /** The events of a seed. */
  public Events(long seed) {
    random = new EventRandom(seed);
    ids = new Ids(random);
    texts = new Texts(random);
    persons = new Persons(random, texts);
  }

  /** Creates an event. */
  public RowData event(long number) {
    random.begin(number);
    GenericRowData event = new GenericRowData(5);
    TimestampData time = TimestampData.fromEpochMillis(EventClock.millisOf(number));
    event.setField(4, time);
    if (Ids.isPerson(number)) {
      event.setField(0, PERSON);
      event.setField(1, person(number, time));
    } else if (Ids.isAuction(number)) {
      event.setField(0, AUCTION);
      event.setField(2, auction(number, time));
    } else {
      event.setField(0, BID);
      event.setField(3, bid(number, time));
    }
    return event;
  }

  private RowData person(long number, TimestampData time) {
    byte[] name = persons.name();
    byte[] mail = persons.mail();
    byte[] card = persons.card();
    StringData city = persons.city();
    StringData state = persons.state();
    int size = 8 + name.length + mail.length + card.length + city.toBytes().length + 2;
    return GenericRowData.of(
        Ids.FIRST + Ids.newestPerson(number),
        StringData.fromBytes(name),
        StringData.fromBytes(mail),
        StringData.fromBytes(card),
        city,
        state,
        time,
        texts.filling(size, PERSON_BYTES));
  }

  private RowData auction(long number, TimestampData time) {
    byte[] name = texts.upTo(ITEM_NAME);
    byte[] description = texts.upTo(DESCRIPTION);
    long initialBid = price();
    long reserve = initialBid + price();
    long seller = ids.seller(number);
    long category = FIRST_CATEGORY + random.below(CATEGORIES);
    int size = LONG_FIELDS_OF_AUCTION + name.length + description.length;
    return GenericRowData.of(
        Ids.FIRST + Ids.newestAuction(number),
        StringData.fromBytes(name),
        StringData.fromBytes(description),
        initialBid,
        reserve,
        time,
        TimestampData.fromEpochMillis(time.getMillisecond() + lengthMillis(number)),
        seller,
        category,
        texts.filling(size, AUCTION_BYTES));
  }

  private RowData bid(long number, TimestampData time) {
    long auction = ids.auction(number);
    long bidder = ids.bidder(number);
    long price = price();
    int channel = channels.choose(random);
    return GenericRowData.of(
        auction,
        bidder,
        price,
        channels.name(channel),
        channels.url(channel),
        time,
        texts.filling(LONG_FIELDS_OF_BID, BID_BYTES));
  }

  /** From 100 up to 100 million, as many for each power of ten. */
  private long price() {
    return Math.round(Math.pow(10, random.unit() * 6) * 100);
  }

  /** So long that {@link Ids#OPEN_AUCTIONS} auctions are open on average. */
  private long lengthMillis(long number) {
    long horizon =
        EventClock.millisOf(number + EVENTS_OF_OPEN_AUCTIONS) - EventClock.millisOf(number);
    return 1 + random.below(Math.max(1, 2 * horizon));
  }
}

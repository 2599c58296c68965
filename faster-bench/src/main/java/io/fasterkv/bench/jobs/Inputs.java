package io.fasterkv.bench.jobs;

import io.fasterkv.bench.events.Events;
import io.fasterkv.bench.jobs.example.Auction;
import io.fasterkv.bench.jobs.example.Bid;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;

/** The events of a run as the jobs' streams, with their times and watermarks. */
record Inputs(DataStream<RowData> events) {
  private static final int TYPE = 0;
  private static final int TIME = 4;
  private static final int MILLIS = 3;
  private static final int BID_FIELDS = 7;
  private static final int AUCTION_FIELDS = 10;

  DataStream<Bid> bids() {
    return events.flatMap(new ToBids()).name("bids");
  }

  DataStream<Auction> auctions() {
    return events.flatMap(new ToAuctions()).name("auctions");
  }

  private static long millis(RowData event) {
    return event.getTimestamp(TIME, MILLIS).getMillisecond();
  }

  /** Bids among the events. */
  private static final class ToBids implements FlatMapFunction<RowData, Bid> {
    private static final long serialVersionUID = 1;

    @Override
    public void flatMap(RowData event, Collector<Bid> out) {
      if (event.getInt(TYPE) == Events.BID) {
        RowData bid = event.getRow(3, BID_FIELDS);
        out.collect(
            new Bid(
                bid.getLong(0),
                bid.getLong(1),
                bid.getLong(2),
                bid.getString(3).toString(),
                millis(event)));
      }
    }
  }

  /** Auctions among the events. */
  private static final class ToAuctions implements FlatMapFunction<RowData, Auction> {
    private static final long serialVersionUID = 1;

    @Override
    public void flatMap(RowData event, Collector<Auction> out) {
      if (event.getInt(TYPE) == Events.AUCTION) {
        RowData auction = event.getRow(2, AUCTION_FIELDS);
        out.collect(
            new Auction(
                auction.getLong(0),
                auction.getLong(7),
                auction.getLong(8),
                auction.getLong(3),
                millis(event)));
      }
    }
  }
}

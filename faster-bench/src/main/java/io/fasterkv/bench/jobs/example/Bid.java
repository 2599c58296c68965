package io.fasterkv.bench.jobs.example;

/**
 * A bid.
 *
 * @param auction its auction's id
 * @param bidder the id of the person
 * @param time in milliseconds since the epoch
 */
public record Bid(long auction, long bidder, long price, String channel, long time) {}

package io.fasterkv.bench.jobs.example;

/**
 * An auction that opens.
 *
 * @param seller the id of the person
 * @param time in milliseconds since the epoch
 */
public record Auction(long id, long seller, long category, long initialBid, long time) {}

-- Calculations on bids of some prices.
SELECT auction, bidder, 0.908 * price AS price,
  CASE
    WHEN HOUR(eventTime) BETWEEN 8 AND 18 THEN 'dayTime'
    WHEN HOUR(eventTime) <= 6 OR HOUR(eventTime) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END AS bidTimeType,
  eventTime, extra, count_char(extra, 'c') AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000

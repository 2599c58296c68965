-- Every bid with its day and minute. The published query writes partitioned files.
SELECT auction, bidder, price, eventTime, extra,
  DATE_FORMAT(eventTime, 'yyyy-MM-dd') AS bidDay, DATE_FORMAT(eventTime, 'HH:mm') AS bidMinute
FROM bid

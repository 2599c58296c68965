-- How many bids each bidder made in a session.
SELECT bidder, COUNT(*) AS bids, window_start, window_end
FROM TABLE(
  SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(eventTime), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end

-- The highest bids of every ten seconds.
SELECT B.auction, B.price, B.bidder, B.eventTime, B.extra
FROM bid AS B
JOIN (
  SELECT MAX(price) AS highest, window_end AS eventTime
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(eventTime), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS M
ON B.price = M.highest
WHERE B.eventTime BETWEEN M.eventTime - INTERVAL '10' SECOND AND M.eventTime

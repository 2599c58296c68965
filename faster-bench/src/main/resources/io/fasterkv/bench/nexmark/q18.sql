-- The last bid of each bidder on each auction.
SELECT auction, bidder, price, channel, url, eventTime, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY eventTime DESC) AS place
  FROM bid
)
WHERE place <= 1

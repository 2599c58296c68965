-- The ten highest bids of each auction; of equal ones, the later bid, so that results compare.
SELECT auction, bidder, price, channel, url, eventTime, extra, place
FROM (
  SELECT *,
    ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, eventTime DESC) AS place
  FROM bid
)
WHERE place <= 10

-- The winning bid of every auction; precedence means: by price DESC, then by time ASC.
SELECT id, itemName, description, initialBid, reserve, eventTime, expires, seller, category, extra,
  auction, bidder, price, bidTime, bidExtra
FROM (
  SELECT A.*, B.auction, B.bidder, B.price, B.eventTime AS bidTime, B.extra AS bidExtra,
    ROW_NUMBER() OVER (
      PARTITION BY A.id ORDER BY precedence(B.price, B.eventTime) DESC) AS place
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.eventTime BETWEEN A.eventTime AND A.expires
)
WHERE place <= 1

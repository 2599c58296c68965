-- Bids with their auctions, of a category.
SELECT B.auction, B.bidder, B.price, B.channel, B.url, B.eventTime AS bidTime, B.extra AS bidExtra,
  A.itemName, A.description, A.initialBid, A.reserve, A.eventTime AS auctionTime, A.expires,
  A.seller, A.category, A.extra AS auctionExtra
FROM bid AS B
JOIN auction AS A ON B.auction = A.id
WHERE A.category = 10

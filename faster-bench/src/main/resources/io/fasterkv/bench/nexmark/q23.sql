-- Bids of persons who sell something, too.
SELECT B.auction, B.bidder, B.price, B.channel, B.url, B.extra AS bidExtra,
  P.id AS person, P.name, P.emailAddress, P.creditCard, P.city, P.state, P.extra AS personExtra,
  A.itemName, A.description, A.initialBid, A.reserve, A.eventTime AS auctionTime, A.expires,
  A.seller, A.category, A.extra AS auctionExtra
FROM bid AS B
JOIN person AS P ON P.id = B.bidder
JOIN auction AS A ON A.seller = B.bidder

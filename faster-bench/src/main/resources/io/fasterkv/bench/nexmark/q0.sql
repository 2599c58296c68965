-- Every bid as it is.
SELECT auction, bidder, price, eventTime, extra
FROM bid

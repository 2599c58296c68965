-- Every bid with a value from a bounded table.
SELECT B.auction, B.bidder, B.price, B.eventTime, S.`value`
FROM timedBid AS B
JOIN side FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, CAST(10000 AS BIGINT)) = S.key

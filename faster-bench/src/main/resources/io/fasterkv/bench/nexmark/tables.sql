-- The tables that the queries read. RUN is replaced by the name of the run.
CREATE TEMPORARY TABLE nexmark (
  event_type INT,
  person ROW<
    id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    eventTime TIMESTAMP(3), extra STRING>,
  auction ROW<
    id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    eventTime TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<
    auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
    eventTime TIMESTAMP(3), extra STRING>,
  eventTime TIMESTAMP(3),
  WATERMARK FOR eventTime AS SOURCE_WATERMARK()
) WITH ('connector' = 'nexmark-run', 'run' = 'RUN');

CREATE TEMPORARY TABLE side (
  key BIGINT,
  `value` STRING
) WITH ('connector' = 'nexmark-run', 'run' = 'RUN', 'side' = 'true');

CREATE TEMPORARY VIEW person AS
SELECT person.id, person.name, person.emailAddress, person.creditCard, person.city, person.state,
  eventTime, person.extra
FROM nexmark
WHERE event_type = 0;

CREATE TEMPORARY VIEW auction AS
SELECT auction.id, auction.itemName, auction.description, auction.initialBid, auction.reserve,
  eventTime, auction.expires, auction.seller, auction.category, auction.extra
FROM nexmark
WHERE event_type = 1;

CREATE TEMPORARY VIEW bid AS
SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, eventTime, bid.extra
FROM nexmark
WHERE event_type = 2;

CREATE TEMPORARY VIEW timedBid AS
SELECT *, PROCTIME() AS p_time
FROM bid;

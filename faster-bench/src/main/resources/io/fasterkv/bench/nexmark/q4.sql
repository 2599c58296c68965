-- The average of closing prices in each category.
SELECT category, AVG(closing) AS average
FROM (
  SELECT A.id, A.category, MAX(B.price) AS closing
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.eventTime BETWEEN A.eventTime AND A.expires
  GROUP BY A.id, A.category
)
GROUP BY category

-- source: orders
-- inputs: {customer: {}}
-- target: c_count* custdist^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 OUTER_JOIN_OF_PART:SRC@10:33?"
-- why: "Counts of the orders that changed."
SELECT c_count, count(*) AS custdist
FROM (
  SELECT c_custkey, count(o_orderkey) AS c_count
  FROM customer LEFT OUTER JOIN <SRC> ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
  GROUP BY c_custkey
) AS c_orders
GROUP BY c_count

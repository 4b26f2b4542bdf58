-- source: inventory
-- inputs: {item: {}}
-- target: i_category* i_brand* qoh^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:item@8:13 GROUP_IN_PART:SRC@10:18"
-- why: "Averages of the counts that changed, with subtotals."
SELECT i_category, i_brand, avg(inv_quantity_on_hand) AS qoh
FROM <SRC>, item
WHERE inv_item_sk = i_item_sk
GROUP BY ROLLUP (i_category, i_brand)

-- How many things about the columns of tables (checks/columns) lie outside the nights before: nulls, values that repeat themselves, rows
-- that are gone, the order of the columns of a row, ratios, whole numbers, distinct values and the most frequent one. What lies outside
-- in several columns or games is one. Python makes unusual_columns (sentence, distance).
select
    count(*) as value,
    list(sentence order by distance desc, sentence)[:20] as sentences,
    array_to_string(sentences[:2], '; ') || case when value > 2 then format('; and {:,} more are unusual', value - 2) else '' end as message
from unusual_columns
having count(*) > 0;

-- The number of values that lie outside those of the nights before, over all columns of all tables (checks/columns): nulls, values
-- that repeat themselves, the order of the columns of a row, middle ratios, whole numbers, distinct values and the most frequent one.
-- Python makes unusual_columns (sentence, distance).
select
    count(*) as value,
    list(sentence order by distance desc, sentence)[:20] as sentences,
    sentences[1] || case when value > 1 then format('; and {:,} more values are unusual', value - 1) else '' end as message
from unusual_columns
having count(*) > 0;

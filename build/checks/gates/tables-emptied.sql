-- The number of tables that have rows in the live build and none in the new one.
select
    count(*) filter (n.rows = 0) as value,
    format('nothing is left of the table{} {}', case when value > 1 then 's' else '' end,
           string_agg(o."table", ', ' order by o."table") filter (n.rows = 0)) as message
from old_tables as o
join new_tables as n using ("table")
where o.rows > 0
having count(*) > 0;

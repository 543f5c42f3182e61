-- The expansions, with those of products that no import has named, as `Expansion 5423`. Those of other files are left out.
from (
    select * from expansions
    where not (expansions.name = 'Expansion ' || expansions.id and id in (select "key" from other_files))
)
union all by name
select distinct id_expansion as id, 'Expansion ' || id_expansion as name from products
where id_expansion >= 0 and id_expansion not in (select id from expansions)
    and id_expansion not in (select "key" from other_files)
order by id

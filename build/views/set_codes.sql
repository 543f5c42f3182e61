-- set_codes: the set that more than nine of ten cards of a code belong to, by the codes that other catalogues give sets.
-- Read by the layer site.
create view set_codes as
with counted as (
    select
        split_part(value, '/', 1) as code,
        id_expansion,
        count(*) as cards,
        sum(count(*)) over (partition by code) as all_cards
    from identifiers
    join products using (id_product)
    where scheme = 'set_number'
    group by code, id_expansion
)
select code, id_expansion
from counted
where 10 * cards > 9 * all_cards and id_expansion is not null
order by code;

-- One row per distinct word or run of signs of the names: the ordinals of the products that have it, ascending.
-- Read by the layer catalogue.
create view words as
with spelled as (
    select distinct name, unnest(string_split(concat(whole, ' ', signs), ' ')) as word
    from spelled_names
)

select word, list(distinct ordinal::uinteger order by ordinal::uinteger) as products
from spelled
inner join rankings using (name)
where word <> ''
group by word
order by word;

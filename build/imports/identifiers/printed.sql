-- The ids by set and number of a catalogue, again with the codes that are printed on the cards. The catalogue's own ids
-- of cards tell their sets: `sm9` and `SM9` are two.
insert into kept by name
with every as (from kept union all by name from stored),

cards as (
    select distinct id_product, own, printed
    from every join codes on starts_with(value, concat(own, '-'))
    where scheme = getvariable('catalogue')
)

select file, number, id_product, scheme, concat(printed, value[length(own) + 1:]) as value
from every join cards using (id_product)
where scheme = 'set_number' and split_part(value, '/', 1) = lower(own)

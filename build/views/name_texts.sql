-- name_texts: one row per text that stands for a name in `spelled_names`, sorted; `text_row` is its place from 0. The first
-- text is '', which stands for no name.
-- name_rows: one row per different name of a product, with the places of its texts.
-- Read by the layer catalogue.
create or replace table name_texts as
select text, row_number() over (order by text) - 1 as text_row
from (
    select '' as text
    union
    select unnest([whole, base, short, face]) from spelled_names
);

create or replace table name_rows as
select
    spelled_names.name,
    a.text_row as whole_row,
    b.text_row as base_row,
    c.text_row as short_row,
    d.text_row as face_row
from spelled_names
inner join name_texts as a on spelled_names.whole = a.text
inner join name_texts as b on spelled_names.base = b.text
inner join name_texts as c on spelled_names.short = c.text
inner join name_texts as d on spelled_names.face = d.text;

-- One row per different name of a product, with the texts that compare names (`generator.storage.text`): `whole`, `base`,
-- `short` and `face` are the words of the name, of its base name, of its short name and of its front face; '' for none, and for
-- `whole` the fold of a name without words. `signs` are
-- the runs of it that are neither letters nor digits, with a 0 between them. Read by the layers catalogue and names.
create or replace table spelled_names as
select
    name,
    name_key(name) as whole,
    word_text(base_name(name)) as base,
    word_text(short_name(name)) as short,
    word_text(face_name(name)) as face,
    sign_text(name) as signs
from (select distinct name from products);

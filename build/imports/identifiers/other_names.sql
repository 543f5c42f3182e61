-- Links (file, number, id_product) whose card has another name than the product: their names share no word, or another card
-- of the product has the product's name. Names in other scripts are not compared. Of a file in another language, where more
-- than a tenth of the names share no word, no link is left out: `skipped` counts what it has. Small files count as one.
create macro is_latin(words) as regexp_matches(array_to_string(words, ' '), '[a-z]')
    and not regexp_matches(regexp_replace(array_to_string(words, ' '), '[\p{Latin}\p{Greek}]', '', 'g'), '\p{L}');

create table links as
with cards as (
    select file, number, name as card, id_product, min(value) filter (scheme = getvariable('catalogue')) as value
    from kept where name is not null group by all
),

named as (
    select cards.*, products.name as product, name_words(card) as card_words, name_words(product) as product_words
    from cards join products using (id_product)
),

compared as (
    select
        *,
        not list_has_any(card_words, product_words)
            and array_to_string(card_words, '') <> array_to_string(product_words, '') as differs,
        card_words = product_words as is_same
    from named
    where is_latin(card_words) and is_latin(product_words)
)

select
    *,
    bool_or(is_same) over (partition by id_product) and not is_same as is_of_another,
    if(count(*) over (partition by file) >= 20, file, -1) as judged
from compared;

create table skipped as
select judged, count(*) as links, count(*) filter (differs) as differ
from links group by judged having count(*) filter (differs) > count(*) / 10.0;

create table other_names as
select * from links anti join skipped using (judged) where differs or is_of_another

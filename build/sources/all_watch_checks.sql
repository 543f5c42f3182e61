-- Every check of the monitor in all_watch_checks, one row each, also of products that are not tracked. It has no offers:
-- their texts are most of the bytes. watch_times_with_offers says which checks are read with them.

-- The slugs of checks that are those of tracked products after folding, as the API takes them.
create table watch_slugs as
select given.given, watchlist.slug as tracked
from (select distinct slug as given from watch_summaries) as given
join watchlist on fold(given.given) = watchlist.slug_folded;

-- The columns of a check, from rows with the columns of watch_summaries. Its slug is that of its tracked product.
create macro watch_checks_of(summaries) as table
select
    * exclude (lowest_listed, highest_listed, longest_text, listed, given, tracked) replace (
        coalesce(tracked, slug) as slug,
        date_trunc('second', checked_at) as checked_at,
        coalesce(num_offers, listed) as num_offers,
        coalesce(price(lowest_price), price(lowest_listed)) as lowest_price
    ),
    num_offers as given_offers,
    price(lowest_price) as given_price
from query_table(summaries)
left join watch_slugs on slug = given;

create table all_watch_checks as
from watch_checks_of('watch_summaries');

-- The times of checks that are read with their offers: each product's newest, and those that several rows have. They are
-- on few days, and only the files of these days are opened for sources/watch_checks.sql.
create table watch_times_with_offers as
with tracked as (
    select slug, day, checked_at, count(*) as checks
    from all_watch_checks
    semi join raw.watchlist using (slug)
    group by all
)

select slug, day, checked_at from tracked where checks > 1
union
select slug, newest.day, newest.checked_at
from (select slug, max({'day': day, 'checked_at': checked_at}) as newest from tracked group by slug);

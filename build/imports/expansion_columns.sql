-- The expansions with the newest game and URL that lines give them; of two with the same time, the greater.
with given as (
    select id,
        struct_extract(max({'time': updated_at, 'value': game}) filter (game is not null), 'value') as new_game,
        struct_extract(max({'time': updated_at, 'value': url}) filter (url is not null), 'value') as new_url
    from lines group by id
)

select expansions.* replace (coalesce(new_game, game) as game, coalesce(new_url, url) as url)
from expansions left join given using (id) order by id

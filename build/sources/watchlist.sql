-- One row per tracked product.
create view watchlist as
select slug, fold(slug) as slug_folded, name, game, filtered_url(url) as cardmarket_url
from raw.watchlist;

-- One row per tracked product: the offers of its newest check as JSON. Read by the layer watchlist.
create view watchlist_offers as
with ranked as (
    select slug, checked_at, list_sort(list_transform(offer_list, lambda offer, place: {
        'unpriced': price(offer.price) is null,
        'price': price(offer.price),
        'place': place,
        'offer': offer
    })) as offers
    from newest_watch_checks
)

select w.slug, to_json({
    'slug': w.slug,
    'cardmarket_url': w.cardmarket_url,
    'as_of': time_text(r.checked_at),
    'offers': coalesce(list_transform(r.offers, lambda ranked: {
        'seller': ranked.offer.seller,
        'condition': ranked.offer.condition,
        'quantity': ranked.offer.quantity,
        'price': ranked.price::double,
        'comment': ranked.offer.comment
    }), [])
})::varchar as json
from watchlist as w
left join ranked as r using (slug)
order by w.slug;

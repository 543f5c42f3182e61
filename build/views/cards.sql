-- One row per product of a task's range (task_products): the Card as a line of JSON, a column `filter_<name>` for each
-- text filter, and a column `key_<name>` for each sort. A product without a value has null or '' in a filter, null in a key.
-- Read by the layers catalogue and cards.
create or replace table cards as
with guide as (
    select id_product, trend, low, avg, market_price, {
        'day': day,
        'low': low::double,
        'avg': avg::double,
        'trend': trend::double,
        'avg1': avg1::double,
        'avg7': avg7::double,
        'avg30': avg30::double,
        'holo': {
            'low': low_holo::double,
            'avg': avg_holo::double,
            'trend': trend_holo::double,
            'avg1': avg1_holo::double,
            'avg7': avg7_holo::double,
            'avg30': avg30_holo::double
        }
    } as price_guide
    from market_prices('newest_price_guide')
),

listing as (
    select id_product, {
        'available': available,
        'from_price': from_price::double,
        'available_foil': available_foil,
        'from_price_foil': from_price_foil::double,
        'scraped_at': time_text(scraped_at)
    } as listing
    from newest_listings
),

filtered as (
    select id_product, lowest, {
        'filter': seller_filter(),
        'lowest': lowest::double,
        'offers': offers,
        'cheapest_seller': case when ranked_offers is null then cheapest_seller else ranked_offers[1].seller end,
        'cheapest_condition':
            case when ranked_offers is null then cheapest_condition else ranked_offers[1].condition end,
        'cheapest_offers': coalesce(list_transform(ranked_offers[:5], lambda offer: {
            'price': offer.price::double,
            'condition': offer.condition,
            'quantity': offer.quantity,
            'seller': offer.seller
        }), []),
        'cheapest_offers_by_condition': map_from_entries(list_filter(
            list_transform(['MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO'], lambda code: {
                'condition': code,
                'offers': list_transform(
                    list_filter(ranked_offers, lambda offer: offer.condition = code)[:5],
                    lambda offer: {'price': offer.price::double, 'quantity': offer.quantity, 'seller': offer.seller}
                )
            }),
            lambda entry: len(entry.offers) > 0
        )),
        'checked_at': time_text(checked_at)
    } as filtered_price
    from newest_filtered_checks
)

select
    p.id_product,
    p.kind,
    p.id_expansion,
    number_filter_key(p.number) as filter_number,
    fold(p.rarity) as filter_rarity,
    e.game_folded as filter_game,
    guide.trend as key_trend,
    guide.low as key_low,
    guide.avg as key_avg,
    filtered.lowest as key_filtered,
    guide.market_price as key_market,
    fold(p.name) as key_name,
    nullif(number_sort_key(p.number), '') as key_number,
    p.date_added as key_newest,
    to_json({
        'id_product': p.id_product,
        'name': p.name,
        'kind': p.kind,
        'category': p.category,
        'set': {'id': p.id_expansion, 'name': e.name},
        'rarity': p.rarity,
        'number': p.number,
        'image': p.image,
        'image_large': p.image_large,
        'cardmarket_url': p.cardmarket_url,
        'filtered_price': filtered.filtered_price,
        'price_guide': guide.price_guide,
        'listing': listing.listing
    })::varchar || e'\n' as line
from task_products as p
left join expansions as e on p.id_expansion = e.id
left join guide using (id_product)
left join listing using (id_product)
left join filtered using (id_product);

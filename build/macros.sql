-- Expressions that more than one file needs.

-- A price as the lake's files give it, in euros with 2 decimals: half away from zero of its shortest decimal form.
-- A double that is nearest to a price of 2 decimals is cast directly. Only other doubles are converted through text,
-- which is slow: nulls do not go that way.
create macro price(x) as case
    when x is null then null
    when round(x * 100) / 100 = x then x::decimal(18, 2)
    else x::varchar::decimal(18, 2)
end;

-- price(x) as a double. Adding 0.0 turns a negative zero into zero. A number that is no price stays as it is, so that rules
-- can be checked on the result.
create macro price_double(x) as case
    when x is null then null
    when round(x * 100) / 100 = x then x + 0.0
    when x < 0 or x > 1e13 then x
    else x::varchar::decimal(18, 2)::double
end;

-- Whether texts are the name of another catalogue, and an id that it may have. \p{Z} and \p{Cc} are together what Python's
-- str.isspace and the category Cc name.
create macro is_scheme(scheme) as regexp_full_match(scheme, '[a-z0-9_]{1,32}');
create macro is_identifier(value) as length(value) between 1 and 200 and not regexp_matches(value, '[,\p{Z}\p{Cc}]');

-- total / items, rounded to 2 decimals, half away from zero; exact, for a total that is not negative.
create macro average(total, items) as
    (((2 * (total * 100)::hugeint + items) // nullif(2 * items, 0)) * 0.01::decimal(2, 2))::decimal(18, 2);

-- (new - old) / old x 100 over prices as shown, rounded to 2 decimals, half away from zero; exact. Null where old
-- is 0. The hundredths become a double by way of text: a division of a large double would round twice.
create macro change_pct(new, old) as (
    sign(new - old) * ((abs((new - old) * 100)::hugeint * 20000 + (old * 100)::hugeint) // nullif((old * 200)::hugeint, 0))
    || 'e-2'
)::double;

create macro time_text(moment) as strftime(moment, '%Y-%m-%dT%H:%M:%SZ');

-- A URL of the marketplace with the seller filter as its query; null if the lake has no URL, or one that a browser could run
-- as a script: only http: and https: are shown.
create macro seller_filter() as 'sellerCountry=23&language=1';
create macro filtered_url(url) as
    nullif(regexp_extract(url, '^(?i:https?):[^?#]*'), '') || '?' || seller_filter();

-- How many bytes a slug has as a file name of the exported tree, without .json: a byte that is no letter, digit, -, _ or . is
-- written as three, and so is a . at the beginning.
create macro file_name_bytes(slug) as
    3 * strlen(slug) - 2 * length(regexp_replace(slug, '[^A-Za-z0-9_.-]', '', 'g'))
    + case when starts_with(slug, '.') then 2 else 0 end;

-- How often filtered_url leaves out a URL of a table, as a row of a report. `item` names the row.
create macro urls_left_out(cardmarket_url, url, item) as {
    'reason': 'urls that are neither http nor https shown as null',
    'rows': count(*) filter (url is not null and cardmarket_url is null),
    'example': min(item) filter (url is not null and cardmarket_url is null)
};

-- Whether an offer has a price, a seller and a known condition. Only such offers are shown.
create macro is_usable(offer) as
    offer.price is not null
    and offer.seller is not null
    and offer.condition in ('MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO');

-- The usable offers, cheapest first: by price, seller (code points), place in the list.
create macro ranked_offers(offer_list) as list_sort(
    list_transform(list_filter(offer_list, lambda offer: is_usable(offer)), lambda offer, place: {
        'price': price(offer.price),
        'seller': offer.seller,
        'place': place,
        'condition': offer.condition,
        'quantity': offer.quantity
    })
);

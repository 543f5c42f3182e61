-- What a comparison of two builds collects before its views can be asked, and the names that it goes by.

-- One row per stored object that was added, removed or changed, of every layer whose digests differ. `key` is the
-- logical key; `id` the product's, in layers with an object per product.
create table object_changes (layer varchar, id bigint, key varchar, change varchar);

-- One row per object that is read in full because it was removed, added or changed: its JSON in either build.
create table old_texts (resource varchar, json varchar);
create table new_texts (resource varchar, json varchar);

-- One row per build and object with history arrays: those of products whose change has to be judged over all periods together.
create table history_texts (side varchar, layer varchar, key varchar, json varchar);

-- The logical key of a row of the index at hand.
create macro logical_key(key) as
    case when getvariable('pattern') = '' then key::varchar else replace(getvariable('pattern'), '{}', key::varchar) end;

-- The order in which things are told.
create macro resource_place(resource) as list_position(
    ['cards', 'lists', 'sets', 'watchlist', 'fingerprints', 'status', 'site'], resource
);
create macro price_name(field) as case field
    when 'price_guide.trend' then 'trend'
    when 'price_guide.low' then 'low'
    when 'filtered_price.lowest' then 'filtered'
end;

-- The tables that a comparison of two builds fills, and the macros that the other files of this folder share.

-- One row per stored object that was added, removed or changed, of every layer whose digests differ. `key` is the
-- logical key; `id` the product's, in layers with an object per product.
create table object_changes (layer varchar, id bigint, key varchar, change varchar);

-- One row per object that is read in full because it was removed, added or changed: its JSON in either build.
create table old_texts (resource varchar, json varchar);
create table new_texts (resource varchar, json varchar);

-- One row per build and stored object with history arrays, for products whose periods must be compared together.
create table history_texts (side varchar, layer varchar, key varchar, json varchar);

-- One row per changed item and field that differs: both values as JSON text, null where the value is null or the
-- object around it is. `place` is the position of the field among those of its resource.
create table field_changes (
    resource varchar, id bigint, key varchar, place bigint, field varchar, old varchar, new varchar
);

-- The logical key of a row of the current index.
create macro logical_key(key) as
    case when getvariable('pattern') = '' then key::varchar else replace(getvariable('pattern'), '{}', key::varchar) end;

-- The order of resources, prices and kinds in all output.
create macro layer_place(layer) as list_position(getvariable('resources')::varchar[], layer);
create macro item_resources() as ['products', 'sets', 'watchlist', 'fingerprints', 'fingerprint index'];
create macro item_place(resource) as list_position(item_resources(), resource);
create macro price_names() as ['trend', 'low', 'filtered'];
create macro price_place(price) as list_position(price_names(), price);
create macro kinds() as ['all', 'single', 'sealed'];
create macro kind_place(kind) as list_position(kinds(), kind);

create macro price_name(field) as case field
    when 'price_guide.trend' then 'trend'
    when 'price_guide.low' then 'low'
    when 'filtered_price.lowest' then 'filtered'
end;

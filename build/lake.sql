-- The tables of a lake and their columns. `not null` means that a value is required. A table
-- with a `day` has partitions <table>/day=YYYY-MM-DD/; the files of the others are <table>*.parquet. The files of each
-- table are checked against these declarations and then read as raw.<table>, with these types. A column that a file
-- lacks is null. tests/lake/test_columns.py compares all other places that name columns with this file.

create schema lake;
create schema raw;

create table lake.expansions (
    id bigint not null,
    name varchar not null,
    game varchar,
    url varchar
);

create table lake.products (
    id_product bigint not null,
    name varchar not null,
    kind varchar not null,
    category varchar,
    id_expansion bigint,
    rarity varchar,
    number varchar,
    image varchar,
    image_large varchar,
    url varchar,
    date_added timestamp
);

create table lake.price_guide (
    day date not null,
    id_product bigint not null,
    low double,
    avg double,
    trend double,
    avg1 double,
    avg7 double,
    avg30 double,
    low_holo double,
    avg_holo double,
    trend_holo double,
    avg1_holo double,
    avg7_holo double,
    avg30_holo double
);

create table lake.listings (
    day date not null,
    id_product bigint not null,
    scraped_at timestamp not null,
    available bigint,
    from_price double,
    available_foil bigint,
    from_price_foil double
);

create table lake.filtered_checks (
    day date not null,
    id_product bigint not null,
    checked_at timestamp not null,
    offers bigint not null,
    lowest double,
    cheapest_seller varchar,
    cheapest_condition varchar,
    offer_list struct(price double, condition varchar, quantity bigint, seller varchar)[]
);

create table lake.watchlist (
    slug varchar not null,
    name varchar not null,
    game varchar,
    url varchar not null
);

create table lake.watch_checks (
    day date not null,
    slug varchar not null,
    checked_at timestamp not null,
    num_offers bigint,
    lowest_price double,
    offer_list struct(seller varchar, condition varchar, quantity varchar, price double, comment varchar)[]
);

create table lake.fingerprints (
    key varchar not null,
    art_p varchar not null,
    art_d varchar not null,
    card_p varchar not null,
    colour varchar not null,
    products bigint[] not null
);

create table lake.identifiers (
    id_product bigint not null,
    scheme varchar not null,
    value varchar not null
);

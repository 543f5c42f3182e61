-- One row per product that is in one of two builds only, or whose Card differs before its prices.
create or replace table changed_cards as
with compared as (
    select
        id,
        o.id is null as comes,
        n.id is null as goes,
        o.product_sha256 is distinct from n.product_sha256 as differs
    from old_cards as o
    full join new_cards as n using (id)
)

select id, case when comes then 'added' when goes then 'removed' else 'changed' end as change
from compared
where comes or goes or differs;

-- One row per product that is in one build only: its name.
create or replace table product_names (id bigint, name varchar);

-- One row per product and member of its Card that differ.
create or replace table changed_fields (id bigint, field varchar);

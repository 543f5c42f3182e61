-- One row per band of euros: how many products have a trend, a low or a filtered price in the band. `at_least` belongs to
-- the band, `below` to the next one; null means no bound.
create view distribution as
with bands as (
    from (values
        (0, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 1), (1, 2), (2, 5), (5, 10), (10, 25), (25, 50), (50, 100), (100, 500),
        (500, null)
    ) as bands(at_least, below)
)

select
    bands.at_least::double as at_least,
    bands.below::double as below,
    count(*) filter (trend >= at_least and (below is null or trend < below)) as trend,
    count(*) filter (low >= at_least and (below is null or low < below)) as low,
    count(*) filter (filtered >= at_least and (below is null or filtered < below)) as filtered
from bands
left join prices on true
group by bands.at_least, bands.below
order by bands.at_least;

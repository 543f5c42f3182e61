-- The number of days by which the as-of day is later than today in UTC (variable today).
select
    greatest(as_of - getvariable('today')::date, 0) as value,
    format('the as-of day {} is in the future: today is {}', as_of, getvariable('today')) as message
from new_build;

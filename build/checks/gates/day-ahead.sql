-- By how many days the as-of day lies beyond the clock's day in UTC (variable today).
select
    greatest(as_of - getvariable('today')::date, 0) as value,
    format('the as-of day {} has not come: it is {}', as_of, getvariable('today')) as message
from new_build;

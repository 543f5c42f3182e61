-- By how much fewer trends changed than on usual nights (variable usual_changes): 0.4 means that 40 % fewer did.
select
    count(*) filter (n.trend is distinct from o.trend) as many,
    greatest(1 - many / getvariable('usual_changes')::double, 0) as value,
    count(*) as products,
    format('the trend of {:,} of {:,} products changed; on usual nights {:,.0f} do',
           many, products, getvariable('usual_changes')::double) as message
from old_prices as o
join new_prices as n using (id_product)
join old_build on true
join new_build on new_build.guide_day > old_build.guide_day
having enough_for_a_game(products) and getvariable('usual_changes')::double > 0;

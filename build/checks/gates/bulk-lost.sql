-- The number of tables and columns of the live build's bulk files that the new build's lack. A column of another type
-- counts as lost.
select
    count(*) as value,
    format('the bulk files lack {}', string_agg(content, ', ' order by content)) as message
from old_bulk
anti join new_bulk using (content)
having (select count(*) from old_bulk) > 0;

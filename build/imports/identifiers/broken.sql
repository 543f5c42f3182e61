-- The cards and lines (file, number) with a row that breaks a rule, each with one such row.
create table broken as
select file, number, arg_min(scheme, (scheme, value)) as scheme, arg_min(value, (scheme, value)) as value
from incoming
where not (is_scheme(scheme) and is_identifier(value))
group by file, number;

from broken order by file, number

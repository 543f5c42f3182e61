-- One row per file with lines that are no line of a log: how many.
select log_file as file, count(*) as lines
from log_lines
where kind = 'other'
group by all
order by lines desc, file;

-- The rows of the catalogue of a build's bulk files, from `bulk_entries`: the entries of the files of format parquet in the
-- manifest. Ids follow from names and days, so equal manifests give equal rows.

-- One snapshot for each day that is the last day of a file. A catalogue needs one, so without days it is that of 1970.
create or replace temp table snapshots as
with days as (select distinct last_day::date as day from bulk_entries where last_day is not null)

select day, row_number() over (order by day) as snapshot_id
from (from days union all select date '1970-01-01' where not exists (from days));

create or replace temp table data_files as
with placed as (
    select e.*, dense_rank() over (order by e."table") as table_id, coalesce(s.snapshot_id, 1) as begin_snapshot
    from bulk_entries as e
    left join snapshots as s on s.day = e.last_day::date
)

select
    *,
    row_number() over (order by table_id, begin_snapshot, name) as data_file_id,
    coalesce(sum(records) over (
        partition by table_id order by begin_snapshot, name rows between unbounded preceding and 1 preceding
    ), 0)::bigint as row_id_start
from placed;

-- The files of a table have the same columns.
create or replace temp table table_columns as
select
    table_id,
    place as column_id,
    columns[place][1] as name,
    case columns[place][2]
        when 'BIGINT' then 'int64' when 'DOUBLE' then 'float64' else lower(columns[place][2])
    end as type
from (
    select table_id, columns, unnest(range(1, len(columns) + 1)) as place
    from (select table_id, any_value(columns order by name) as columns from data_files group by table_id)
);

insert into ducklake_metadata (key, value)
values ('version', '1.0'), ('created_by', 'cardpress'), ('encrypted', 'false');

insert into ducklake_snapshot
select
    snapshot_id,
    (day::varchar || ' 00:00:00+00')::timestamptz,
    1,
    (select max(table_id) + 1 from data_files),
    (select max(data_file_id) + 1 from data_files)
from snapshots
order by snapshot_id;

insert into ducklake_snapshot_changes (snapshot_id, changes_made)
select begin_snapshot, string_agg('inserted_into_table:' || table_id, ',' order by table_id)
from (select distinct begin_snapshot, table_id from data_files)
group by begin_snapshot
order by begin_snapshot;

insert into ducklake_schema values (0, md5('main')::uuid, 1, null, 'main', '', true);

insert into ducklake_table
select distinct table_id, md5("table")::uuid, 1, null::bigint, 0, "table", '', true from data_files order by table_id;

insert into ducklake_schema_versions select 1, 1, table_id from ducklake_table order by table_id;

insert into ducklake_column
select
    column_id, 1, null, table_id, column_id, name, type,
    null, 'NULL', true, null, 'literal', 'duckdb'
from table_columns
order by table_id, column_id;

-- The files have no ids of columns: readers find the columns by their names.
insert into ducklake_column_mapping select table_id, table_id, 'map_by_name' from ducklake_table order by table_id;

insert into ducklake_name_mapping
select table_id, column_id - 1, name, column_id, null, false from table_columns order by table_id, column_id;

insert into ducklake_data_file
select
    data_file_id, table_id, begin_snapshot, null, null, name, true, 'parquet', records, bytes, null,
    row_id_start, null, null, table_id, null
from data_files
order by data_file_id;

-- Readers skip the files whose days they do not ask for. Inside a file, its own statistics say what to read.
insert into ducklake_file_column_stats
select data_file_id, table_id, column_id, null, records, 0, first_day, last_day, null, null
from data_files as f
join table_columns as c using (table_id)
where c.name = 'day' and f.first_day is not null
order by data_file_id;

insert into ducklake_table_stats
select table_id, sum(records), sum(records), sum(bytes) from data_files group by table_id order by table_id;

insert into ducklake_table_column_stats
select table_id, column_id, false, null, min(first_day), max(last_day), null
from data_files as f
join table_columns as c using (table_id)
where c.name = 'day' and f.first_day is not null
group by table_id, column_id
order by table_id;

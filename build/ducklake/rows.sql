-- The rows of the catalogue of a build's bulk files, from `bulk_entries`: the entries of the files of format parquet in the
-- manifest. Ids follow from names and days, so equal manifests give equal rows. Two tables hold what the entries say, and
-- the tables of DuckLake are views of them: a client that attaches the file fetches a few blocks, and not some of each table.

create table data_files as
with placed as (
    select
        *,
        dense_rank() over (order by "table") as table_id,
        case
            when last_day is null then 1
            else dense_rank() over (partition by last_day is null order by last_day::date)
        end as begin_snapshot
    from bulk_entries
)

select
    row_number() over (order by table_id, begin_snapshot, name) as data_file_id,
    table_id,
    "table",
    name,
    begin_snapshot,
    records,
    bytes,
    footer,
    coalesce(sum(records) over (
        partition by table_id order by begin_snapshot, name rows between unbounded preceding and 1 preceding
    ), 0)::bigint as row_id_start,
    first_day,
    last_day
from placed
order by data_file_id;

-- The files of a table have the same columns.
create table table_columns as
select
    table_id,
    place as column_id,
    columns[place][1] as name,
    case columns[place][2]
        when 'BIGINT' then 'int64' when 'DOUBLE' then 'float64' else lower(columns[place][2])
    end as type
from (
    select table_id, columns, unnest(range(1, len(columns) + 1)) as place
    from (
        select f.table_id, any_value(e.columns order by e.name) as columns
        from data_files as f
        join bulk_entries as e on e.name = f.name
        group by f.table_id
    )
)
order by table_id, column_id;

-- DuckLake looks for one table.
create table ducklake_metadata (key varchar, value varchar, scope varchar, scope_id bigint);
insert into ducklake_metadata (key, value)
values ('version', '1.0'), ('created_by', 'cardpress'), ('encrypted', 'false');

-- One snapshot for each day that is the last day of a file; without any, that of 1970.
create view ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) as
select
    begin_snapshot,
    (coalesce(max(last_day), '1970-01-01') || ' 00:00:00+00')::timestamptz,
    1::bigint,
    (select max(table_id) + 1 from data_files),
    (select max(data_file_id) + 1 from data_files)
from data_files
group by begin_snapshot
order by begin_snapshot;

create view ducklake_snapshot_changes (snapshot_id, changes_made, author, commit_message, commit_extra_info) as
select
    begin_snapshot,
    string_agg('inserted_into_table:' || table_id, ',' order by table_id),
    null::varchar,
    null::varchar,
    null::varchar
from (select distinct begin_snapshot, table_id from data_files)
group by begin_snapshot
order by begin_snapshot;

create view ducklake_schema (
    schema_id, schema_uuid, begin_snapshot, end_snapshot, schema_name, path, path_is_relative
) as
select 0::bigint, md5('main')::uuid, 1::bigint, null::bigint, 'main', '', true;

create view ducklake_table (
    table_id, table_uuid, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative
) as
select distinct table_id, md5("table")::uuid, 1::bigint, null::bigint, 0::bigint, "table", '', true
from data_files
order by table_id;

create view ducklake_schema_versions (begin_snapshot, schema_version, table_id) as
select 1::bigint, 1::bigint, table_id from ducklake_table order by table_id;

create view ducklake_column (
    column_id, begin_snapshot, end_snapshot, table_id, column_order, column_name, column_type, initial_default,
    default_value, nulls_allowed, parent_column, default_value_type, default_value_dialect
) as
select
    column_id, 1::bigint, null::bigint, table_id, column_id, name, type, null::varchar,
    'NULL', true, null::bigint, 'literal', 'duckdb'
from table_columns
order by table_id, column_id;

-- The files have no ids of columns: readers find the columns by their names.
create view ducklake_column_mapping (mapping_id, table_id, type) as
select table_id, table_id, 'map_by_name' from ducklake_table order by table_id;

create view ducklake_name_mapping (
    mapping_id, column_id, source_name, target_field_id, parent_column, is_partition
) as
select table_id, column_id - 1, name, column_id, null::bigint, false from table_columns order by table_id, column_id;

create view ducklake_data_file (
    data_file_id, table_id, begin_snapshot, end_snapshot, file_order, path, path_is_relative, file_format, record_count,
    file_size_bytes, footer_size, row_id_start, partition_id, encryption_key, mapping_id, partial_max
) as
select
    data_file_id, table_id, begin_snapshot, null::bigint, null::bigint, name, true, 'parquet', records,
    bytes, footer, row_id_start, null::bigint, null::varchar, table_id, null::bigint
from data_files
order by data_file_id;

-- Readers skip the files whose days they do not ask for. Inside a file, its own statistics say what to read.
create view ducklake_file_column_stats (
    data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan,
    extra_stats
) as
select
    f.data_file_id, table_id, c.column_id, null::bigint, f.records, 0::bigint, f.first_day, f.last_day, null::boolean,
    null::varchar
from data_files as f
join table_columns as c using (table_id)
where c.name = 'day' and f.first_day is not null
order by f.data_file_id;

create view ducklake_table_stats (table_id, record_count, next_row_id, file_size_bytes) as
select table_id, sum(records)::bigint, sum(records)::bigint, sum(bytes)::bigint
from data_files
group by table_id
order by table_id;

create view ducklake_table_column_stats (
    table_id, column_id, contains_null, contains_nan, min_value, max_value, extra_stats
) as
select table_id, c.column_id, false, null::boolean, min(f.first_day), max(f.last_day), null::varchar
from data_files as f
join table_columns as c using (table_id)
where c.name = 'day' and f.first_day is not null
group by table_id, c.column_id
order by table_id;

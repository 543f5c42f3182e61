-- The tables of a DuckLake 1.0 catalogue (https://ducklake.select/docs/stable/specification/tables/overview) that have no rows
-- here. Readers ask for all of them. They are views, since a DuckDB file keeps 3 kB of statistics for a column of a table.

create view ducklake_column_tag as
select null::bigint as table_id, null::bigint as column_id, null::bigint as begin_snapshot, null::bigint as
    end_snapshot, null::varchar as key, null::varchar as value where false;
create view ducklake_delete_file as
select null::bigint as delete_file_id, null::bigint as table_id, null::bigint as begin_snapshot, null::bigint as
    end_snapshot, null::bigint as data_file_id, null::varchar as path, null::boolean as path_is_relative,
    null::varchar as format, null::bigint as delete_count, null::bigint as file_size_bytes, null::bigint as
    footer_size, null::varchar as encryption_key, null::bigint as partial_max where false;
create view ducklake_file_partition_value as
select null::bigint as data_file_id, null::bigint as table_id, null::bigint as partition_key_index, null::varchar as
    partition_value where false;
create view ducklake_file_variant_stats as
select null::bigint as data_file_id, null::bigint as table_id, null::bigint as column_id, null::varchar as
    variant_path, null::varchar as shredded_type, null::bigint as column_size_bytes, null::bigint as value_count,
    null::bigint as null_count, null::varchar as min_value, null::varchar as max_value, null::boolean as contains_nan,
    null::varchar as extra_stats where false;
create view ducklake_files_scheduled_for_deletion as
select null::bigint as data_file_id, null::varchar as path, null::boolean as path_is_relative, null::timestamptz as
    schedule_start where false;
create view ducklake_inlined_data_tables as
select null::bigint as table_id, null::varchar as table_name, null::bigint as schema_version where false;
create view ducklake_macro as
select null::bigint as schema_id, null::bigint as macro_id, null::varchar as macro_name, null::bigint as
    begin_snapshot, null::bigint as end_snapshot where false;
create view ducklake_macro_impl as
select null::bigint as macro_id, null::bigint as impl_id, null::varchar as dialect, null::varchar as sql,
    null::varchar as type where false;
create view ducklake_macro_parameters as
select null::bigint as macro_id, null::bigint as impl_id, null::bigint as column_id, null::varchar as parameter_name,
    null::varchar as parameter_type, null::varchar as default_value, null::varchar as default_value_type where false;
create view ducklake_partition_column as
select null::bigint as partition_id, null::bigint as table_id, null::bigint as partition_key_index, null::bigint as
    column_id, null::varchar as transform where false;
create view ducklake_partition_info as
select null::bigint as partition_id, null::bigint as table_id, null::bigint as begin_snapshot, null::bigint as
    end_snapshot where false;
create view ducklake_sort_expression as
select null::bigint as sort_id, null::bigint as table_id, null::bigint as sort_key_index, null::varchar as expression,
    null::varchar as dialect, null::varchar as sort_direction, null::varchar as null_order where false;
create view ducklake_sort_info as
select null::bigint as sort_id, null::bigint as table_id, null::bigint as begin_snapshot, null::bigint as end_snapshot
    where false;
create view ducklake_tag as
select null::bigint as object_id, null::bigint as begin_snapshot, null::bigint as end_snapshot, null::varchar as key,
    null::varchar as value where false;
create view ducklake_view as
select null::bigint as view_id, null::uuid as view_uuid, null::bigint as begin_snapshot, null::bigint as end_snapshot,
    null::bigint as schema_id, null::varchar as view_name, null::varchar as dialect, null::varchar as sql,
    null::varchar as column_aliases where false;

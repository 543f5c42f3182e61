-- One row per line of the files in the variable log_files: the logs of shims and of the nginx of `cardpress edge`.
-- A shim logs what it answers, and nginx only what it answers itself. So each request is one line, in one of both.
-- `kind` is request, message (of a shim), or other: a line that was cut off, or that another program wrote.
create or replace view log_lines as
with read as (
    select
        *,
        try_cast(time as timestamptz)::date as day,
        try_cast(status as smallint) as answer_status,
        try_cast(bytes as bigint) as body_bytes
    from read_json(
        getvariable('log_files'),
        format = 'newline_delimited',
        ignore_errors = true,
        filename = 'log_file',
        columns = {
            time: 'varchar', message: 'varchar', method: 'varchar', path: 'varchar', status: 'varchar',
            bytes: 'varchar', ms: 'varchar', key: 'varchar', request: 'varchar'
        }
    )
)
select
    log_file,
    day,
    key,
    answer_status,
    body_bytes,
    case
        when day is null then 'other'
        when message is not null then 'message'
        when method || path || ms || request || answer_status || body_bytes is not null then 'request'
        else 'other'
    end as kind
from read;

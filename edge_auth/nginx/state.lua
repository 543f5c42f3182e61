-- The build from which the shim answers and the list of the keys, read from files by each process, and the records of keys that
-- clients have used. `switch` puts the build into force. `live/key_file` describes the files of the keys.

local ffi = require "ffi"
local head = require "head"
local json = require "cjson.safe"
local log = require "log"
local clear = require "table.clear"

ffi.cdef [[ unsigned char *SHA256(const unsigned char *data, size_t size, unsigned char *digest); ]]

local ONE_LIST, SHARDS = 1, 2 -- formats of the list
local LOG_SECONDS = 60
local MAX_REMEMBERED = 20000
local digest = ffi.new("unsigned char[32]")
local texts, failed_at, read_at = {}, {}, 0
-- The shards by name, and what a record must bear that comes from a shard as it is now. A list of all records is one shard.
local shards, digits, by_hash = {}, 0, {}
local may_by_scopes = {}
local by_authorization, by_api_key, remembered = {}, {}, 0 -- records by the header that held the key
local paths, max_age

-- The build in force, and the one from which the shim answers.
local state = { build = nil, named = nil }

local function log_failure(path)
    if ngx.time() >= (failed_at[path] or 0) + LOG_SECONDS then
        failed_at[path] = ngx.time()
        ngx.log(ngx.ERR, "cannot read ", path, "; the last content stays in force")
    end
end

-- Returns the parsed content of a file if it changed, and whether it could be read.
local function changed(path, valid)
    local file = io.open(path, "rb")
    local text = file and file:read("*a")
    if file then file:close() end
    if text and text == texts[path] then return nil, true end
    local document = text and json.decode(text)
    if type(document) ~= "table" or not valid(document) then
        log_failure(path)
        return nil, false
    end
    texts[path], failed_at[path] = text, nil
    return document, true
end

-- Returns the number that a file holds, or 0. The shim writes it when it has read the store.
local function number_in(path)
    local file = io.open(path, "rb")
    local number = file and file:read("*n")
    if file then file:close() end
    return number or 0
end

-- Returns what is used of a record. `token` is that of its shard.
local function useful(record, shard, token)
    local scopes = table.concat(record.scopes, " ")
    local may = may_by_scopes[scopes] or {}
    for _, scope in ipairs(record.scopes) do may[scope] = true end
    may_by_scopes[scopes] = may
    local expires_at = record.expires_at ~= ngx.null and record.expires_at or nil
    return {
        id = record.id, log = log.key(record.id), may = may, rate_limit = record.rate_limit, revoked = record.revoked,
        expires_at = expires_at, shard = shard, token = token,
    }
end

local function valid_keys(found)
    return found.format == ONE_LIST or (found.format == SHARDS and type(found.shards) == "table")
end

local function read_keys()
    local document, readable = changed(paths.keys, valid_keys)
    if document and document.format == SHARDS then
        shards, digits, by_hash = document.shards, document.digits, {}
    elseif document then
        local token = {} -- no other list has it
        shards, digits, by_hash = { [""] = token }, 0, {}
        for _, record in ipairs(document.keys) do by_hash[record.sha256] = useful(record, "", token) end
    end
    if readable then read_at = paths.read_at and number_in(paths.read_at) or ngx.time() end
end

-- Returns the record of a key in the file of its shard. The shim has not copied each shard of a store on S3.
local function read_record(sha256, shard, token)
    local file = io.open(paths.keys:gsub("%.json$", "") .. "/" .. shard .. "/" .. token .. ".jsonl", "rb")
    local text = file and file:read("*a")
    if file then file:close() end
    local begin = '{"sha256":"' .. sha256 .. '"'
    local start = text and (text:sub(1, #begin) == begin and 1 or text:find("\n" .. begin, 1, true))
    local record = start and json.decode(text:match("[^\n]+", start))
    return record and useful(record, shard, token)
end

-- Reads which build the shim answers from.
function state.read_live()
    local file = io.open(paths.live, "rb")
    local build = file and file:read("*l")
    if file then file:close() end
    if build and build ~= "" then state.named = build end
end

-- Reads both files. `max_age` is how many seconds key records stay valid that cannot be read again.
function state.read(new_paths, new_max_age)
    paths, max_age = new_paths, new_max_age
    state.read_live()
    read_keys()
end

local function hash(key)
    ffi.C.SHA256(key, #key, digest)
    return (ffi.string(digest, 32):gsub(".", function(byte) return string.format("%02x", byte:byte()) end))
end

-- Returns the record of the key in a header, and remembers it.
local function find(known, header)
    local key = header:match(known == by_api_key and "^ *([^ ]+) *$" or "^ *[Bb][Ee][Aa][Rr][Ee][Rr] +([^ ]+) *$")
    local sha256 = key and hash(key)
    local shard = sha256 and sha256:sub(1, digits)
    local token = shards[shard or false]
    local record = token and (by_hash[sha256] or (digits > 0 and read_record(sha256, shard, token)))
    if not record then return nil end
    if remembered >= MAX_REMEMBERED then
        clear(by_authorization)
        clear(by_api_key)
        remembered = 0
    end
    known[header], remembered = record, remembered + 1
    return record
end

-- Returns the record of the key of the request if it is valid now, or nil: then the shim decides.
function state.record(now)
    local known, header = by_authorization, head.short("http_authorization")
    if header == nil then known, header = by_api_key, head.short("http_x_api_key") end
    if not header or now > read_at + max_age then return nil end
    local record = known[header]
    if not record or shards[record.shard] ~= record.token then record = find(known, header) end
    if not record or record.revoked then return nil end
    if record.expires_at and os.date("!%Y-%m-%dT%H:%M:%SZ", now) > record.expires_at then return nil end
    return record
end

return state

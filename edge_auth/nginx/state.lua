-- The build that the pointer names and the key records, read from files once a second by each worker. `switch` puts the
-- build into force.

local ffi = require "ffi"
local head = require "head"
local json = require "cjson.safe"
local log = require "log"

ffi.cdef [[ unsigned char *SHA256(const unsigned char *data, size_t size, unsigned char *digest); ]]

local KEY_FORMAT = 1
local LOG_SECONDS = 60
local MAX_REMEMBERED = 10000
local digest = ffi.new("unsigned char[32]")
local texts, failed_at, read_at = {}, {}, 0
local by_hash = {}
local by_authorization, by_api_key, remembered = {}, {}, 0 -- records by the header that held the key
local paths, max_age

local state = { build = nil, named = nil } -- the build in force, and the one that the pointer names

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

local function read_keys()
    local document, readable = changed(paths.keys, function(found) return found.format == KEY_FORMAT end)
    if document then
        by_hash, by_authorization, by_api_key, remembered = {}, {}, {}, 0
        for _, record in ipairs(document.keys) do
            record.may = {}
            for _, scope in ipairs(record.scopes) do record.may[scope] = true end
            record.log = log.key(record.id)
            if record.expires_at == ngx.null then record.expires_at = nil end
            by_hash[record.sha256] = record
        end
    end
    if readable then read_at = paths.read_at and number_in(paths.read_at) or ngx.time() end
end

function state.read_pointer()
    local document = changed(paths.pointer, function(found) return type(found.build) == "string" end)
    if document then state.named = document.build end
end

-- Reads both files. `max_age` is how many seconds key records stay valid that cannot be read again.
function state.read(new_paths, new_max_age)
    paths, max_age = new_paths, new_max_age
    state.read_pointer()
    read_keys()
end

local function hash(key)
    ffi.C.SHA256(key, #key, digest)
    return (ffi.string(digest, 32):gsub(".", function(byte) return string.format("%02x", byte:byte()) end))
end

-- Returns the record of the key in a header, and remembers it.
local function find(known, header)
    local key = header:match(known == by_api_key and "^ *([^ ]+) *$" or "^ *[Bb][Ee][Aa][Rr][Ee][Rr] +([^ ]+) *$")
    local record = key and by_hash[hash(key)]
    if record and remembered < MAX_REMEMBERED then
        known[header], remembered = record, remembered + 1
    end
    return record
end

-- Returns the record of the key of the request if it is valid now, or nil: then the shim decides.
function state.record(now)
    local known, header = by_authorization, head.short("http_authorization")
    if header == nil then known, header = by_api_key, head.short("http_x_api_key") end
    local record = header and now <= read_at + max_age and (known[header] or find(known, header))
    if not record or record.revoked then return nil end
    if record.expires_at and os.date("!%Y-%m-%dT%H:%M:%SZ", now) > record.expires_at then return nil end
    return record
end

return state

-- The build from which the shim answers and the records of the keys that clients use, read from files by each process.
-- `live/keys` describes the files of the keys.

local ffi = require "ffi"
local head = require "head"
local json = require "cjson.safe"
local log = require "log"
local clear = require "table.clear"

ffi.cdef [[ unsigned char *SHA256(const unsigned char *data, size_t size, unsigned char *digest); ]]

local MAX_REMEMBERED, MAX_BYTES = 20000, 65536
local digest = ffi.new("unsigned char[32]")
local by_authorization, by_api_key, remembered = {}, {}, 0 -- records by the header that held the key
local paths, changes, records -- `changes`: the text of keys.json, which changes with each record

local state = { build = nil } -- the build from which the shim answers

local function forget()
    clear(by_authorization)
    clear(by_api_key)
    remembered = 0
end

-- Returns the first bytes of a file, or nil.
local function content(path)
    local file = io.open(path, "rb")
    local text = file and file:read(MAX_BYTES)
    if file then file:close() end
    return text
end

-- Forgets the records if one changed.
local function read_changes()
    local text = content(paths.keys)
    if text ~= changes then forget() end
    changes = text
end

-- Returns what is used of the record of a key, or nil if it is not there, is switched off or cannot be read: the shim decides
-- then. A store on S3 has files of the keys that a shim has read.
local function read_record(sha256)
    local text = changes and content(records .. sha256:sub(1, 2) .. "/" .. sha256 .. ".json")
    local record = text and json.decode(text)
    if type(record) ~= "table" or type(record.scopes) ~= "table" or record.revoked ~= false then return nil end
    if type(record.rate_limit) ~= "number" or record.rate_limit < 1 then return nil end
    local may, expires_at = {}, record.expires_at ~= ngx.null and record.expires_at or nil
    if expires_at and type(expires_at) ~= "string" then return nil end
    for _, scope in ipairs(record.scopes) do may[scope] = true end
    local id = "key_" .. sha256:sub(1, 12)
    return { id = id, log = log.key(id), may = may, rate_limit = record.rate_limit, expires_at = expires_at }
end

-- Reads what may have changed.
function state.read(new_paths)
    paths, records = new_paths, new_paths.keys:gsub("%.json$", "") .. "/"
    local build = content(paths.live)
    if build and build ~= "" then state.build = build end
    read_changes()
end

local function hash(key)
    ffi.C.SHA256(key, #key, digest)
    return (ffi.string(digest, 32):gsub(".", function(byte) return string.format("%02x", byte:byte()) end))
end

-- Returns the record of the key in a header, and remembers it.
local function find(known, header)
    local key = header:match(known == by_api_key and "^ *([^ ]+) *$" or "^ *[Bb][Ee][Aa][Rr][Ee][Rr] +([^ ]+) *$")
    local record = key and read_record(hash(key))
    if not record then return nil end
    if remembered >= MAX_REMEMBERED then forget() end
    known[header], remembered = record, remembered + 1
    return record
end

-- Returns the record of the key of the request if it is valid now, or nil: then the shim decides.
function state.record(now)
    local known, header = by_authorization, head.short("http_authorization")
    if header == nil then known, header = by_api_key, head.short("http_x_api_key") end
    local record = header and (known[header] or find(known, header))
    if not record or (record.expires_at and os.date("!%Y-%m-%dT%H:%M:%SZ", now) > record.expires_at) then return nil end
    return record
end

return state

-- What the shim has written down for this nginx, read by each process: the build from which it answers, and the keys and guests
-- for which nginx may answer. `live/keyring` describes the files. What is not there goes to the shim.

local ffi = require "ffi"
local head = require "head"
local log = require "log"
local clear = require "table.clear"

ffi.cdef [[ unsigned char *SHA256(const unsigned char *data, size_t size, unsigned char *digest); ]]

local MAX_REMEMBERED, MAX_BYTES = 20000, 65536
local digest = ffi.new("unsigned char[32]")
local by_authorization, by_api_key, remembered = {}, {}, 0 -- what is granted, by the header that held the key
local changes, folder -- `changes`: the text of the list, which changes with each record

local state = { build = nil, guests = nil } -- the build from which the shim answers; what is granted without a key

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

-- Returns what the first line of a text grants: requests a minute, the last second or "-", scopes. nil if it is nothing.
local function granted(text, id)
    local limit, ends, scopes = (text or ""):match("^(%d+) (%S+) ([^\n]*)\n")
    if not limit then return nil end
    local may = {}
    for scope in scopes:gmatch("%S+") do may[scope] = true end
    return { id = id, log = log.key(id), may = may, rate_limit = tonumber(limit), ends = ends ~= "-" and ends or nil }
end

-- Reads what may have changed.
function state.read(paths)
    folder = paths.keys:gsub("%.json$", "") .. "/"
    local build, text = content(paths.live), content(paths.keys)
    if build and build ~= "" then state.build = build end
    if text == changes then return end
    forget()
    changes, state.guests = text, granted(text)
end

local function hash(key)
    ffi.C.SHA256(key, #key, digest)
    return (ffi.string(digest, 32):gsub(".", function(byte) return string.format("%02x", byte:byte()) end))
end

-- Returns what is granted to the key in a header, and remembers it.
local function find(known, header)
    local key = header:match(known == by_api_key and "^ *([^ ]+) *$" or "^ *[Bb][Ee][Aa][Rr][Ee][Rr] +([^ ]+) *$")
    if not key or not changes then return nil end
    local sha256 = hash(key)
    local found = granted(content(folder .. sha256:sub(1, 2) .. "/" .. sha256 .. ".json"), "key_" .. sha256:sub(1, 12))
    if not found then return nil end
    if remembered >= MAX_REMEMBERED then forget() end
    known[header], remembered = found, remembered + 1
    return found
end

-- Returns what is granted now to the key of the request, or nil: then the shim decides.
function state.key(now)
    local known, header = by_authorization, head.short("http_authorization")
    if header == nil then known, header = by_api_key, head.short("http_x_api_key") end
    local found = header and (known[header] or find(known, header))
    if not found or (found.ends and os.date("!%Y-%m-%dT%H:%M:%SZ", now) > found.ends) then return nil end
    return found
end

return state

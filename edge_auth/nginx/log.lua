-- The lines of the log for answers that nginx gives itself, with the fields of edge_auth/live/log.py. The shim logs all
-- others, so each answer is in one log. The configuration adds the key, the id of the request, time and duration.

local json = require "cjson"

local MAX_BYTES, MAX_KNOWN = 500, 100
local KEY = "[Cc][Pp][Mm]_[Ll][Ii][Vv][Ee]_[%w_]*"
local SECRET_CHARACTERS = 32 -- a key has so many letters and digits in a row, whatever its prefix looks like

local known, known_number = {}, 0 -- texts as JSON

local log = { MAX_READ_BYTES = 1000 }

local function hide(word)
    return #word >= SECRET_CHARACTERS and "…" or nil
end

-- Returns the beginning of a text that is read. The last word of a longer one may be a part of a key, so it is left out.
local function cut(text)
    if #text < log.MAX_READ_BYTES then return text end
    return text:sub(1, log.MAX_READ_BYTES):match("^.*[^%w_]") or "" -- gsub("[%w_]+$", "") would try from each byte
end

-- Returns a text as JSON, without possible keys. Bytes that are no printable ASCII are escaped.
local function escaped(text)
    text = cut(text):gsub("[^\32-\126]", function(byte) return ("\\x%02x"):format(byte:byte()) end)
    text = text:gsub(KEY, "…"):gsub("%w+", hide)
    if #text > MAX_BYTES then text = text:sub(1, MAX_BYTES):gsub("[\128-\255]+$", "") end
    return (json.encode(text):gsub("\\/", "/"))
end

-- Returns the same, in a tenth of the time for a text of many lines: a method, an endpoint, a build.
local function quoted(text)
    if known[text] then return known[text] end
    if known_number == MAX_KNOWN then known, known_number = {}, 0 end
    known[text], known_number = escaped(text), known_number + 1
    return known[text]
end

-- Returns the first fields of a line. `address` is what the client sent; `endpoint` is nil if the shim has not named one.
local function begin(method, address, endpoint, status, bytes)
    local path = cut(address):match("^[^?]*"):gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end)
    return ('"method":%s,"path":%s,"endpoint":%s,"status":%d,"bytes":%d'):format(
        quoted(method), quoted(path), endpoint and quoted(endpoint) or "null", status, bytes)
end

-- Returns the fields of a hit.
function log.hit(address, endpoint, status, bytes, build)
    return begin("GET", address, endpoint, status, bytes) .. ',"build":' .. quoted(build) .. ',"cache":"hit"'
end

-- Returns the field that names a key by its id, which a guest has not.
function log.key(id)
    return id and ',"key":"' .. id .. '"' or ',"key":null'
end

-- Returns the fields of a refusal. Method and address are nil if nginx could not read them.
function log.refusal(method, address, status, bytes)
    return begin(method or "", address or "", nil, status, method == "HEAD" and 0 or bytes) .. ',"build":null'
end

return log

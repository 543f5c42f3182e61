-- What a request says, without a Lua string of what is long. Lua keeps one copy of equal strings, and finds it by a hash of all
-- bytes of a short string, but of only some bytes of a long one. Thousands of long strings that differ in the other bytes have
-- the same hash and are compared one by one: the heads of the requests for the pages of a list, or what an attacker sends.

local base = require "resty.core.base"
local bit = require "bit"
local ffi = require "ffi"
require "resty.core.request"
require "resty.core.var"

local C = ffi.C
local MAX_SHORT_BYTES, MAX_HEADERS = 127, 100
local NOT_RAW = 0
-- The headers on which an answer depends, by length. nginx itself refuses a second Authorization or If-None-Match.
local READ = { [7] = "x-build", [9] = "x-api-key", [15] = "accept-encoding" }
local headers, is_cut = ffi.new("ngx_http_lua_ffi_table_elt_t[?]", MAX_HEADERS), ffi.new("int[1]")
local value, problem = ffi.new("unsigned char *[1]"), base.get_errmsg_ptr()

local head = {}

-- Returns the size of a variable of nginx, whose bytes are at `value[0]` then, or nil if it has no value.
local function find(name)
    local size = base.get_size_ptr()
    local found = C.ngx_http_lua_ffi_var_get(base.get_request(), name, #name, base.get_string_buf(#name), 0, value, size, problem)
    return found == 0 and tonumber(size[0]) or nil
end

-- Returns a variable of nginx, nil if it has no value, or false if it is longer than `most` bytes, or not short.
function head.short(name, most)
    local size = find(name)
    return size and size <= (most or MAX_SHORT_BYTES) and ffi.string(value[0], size)
end

-- Returns at most the first `most` bytes of a variable of nginx, or nil if it has no value.
function head.start(name, most)
    local size = find(name)
    return size and ffi.string(value[0], math.min(size, most))
end

-- Returns whether a request may have one of these headers twice: nginx would read the first one, and the shim reads both.
function head.is_ambiguous()
    local request, seen = base.get_request(), 0
    local number = C.ngx_http_lua_ffi_req_get_headers_count(request, MAX_HEADERS, is_cut)
    if number < 0 or is_cut[0] ~= 0 then return true end
    if C.ngx_http_lua_ffi_req_get_headers(request, headers, number, NOT_RAW) < 0 then return true end
    for index = 0, number - 1 do
        local name = headers[index].key
        if READ[name.len] and ffi.string(name.data, name.len) == READ[name.len] then
            local flag = bit.lshift(1, name.len)
            if bit.band(seen, flag) ~= 0 then return true end
            seen = bit.bor(seen, flag)
        end
    end
    return false
end

return head

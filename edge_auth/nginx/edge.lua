-- Decides for each request of the API whether nginx answers it from its cache. An answer comes from the cache if the
-- shim gave the same 200 for the live build before, the key is valid and has the scope, and the limit allows it.
-- Everything else goes to the shim, which alone writes errors.

local counter = require "counter"
local state = require "state"

local MAX_URI_BYTES = 2000
local POLL_SECONDS = 1
local shared = ngx.shared.scopes -- for each cached answer: the scope that it needs, or "-"
local encodings, encodings_left = {}, 100

local edge = {}

-- Starts to follow the pointer, the key records and the counter's file. `places` names these files.
function edge.start(places, keys_max_age)
    local function read(premature)
        if premature then return end
        state.read(places, keys_max_age)
        counter.open(places.counter)
    end
    read(false)
    ngx.timer.every(POLL_SECONDS, read)
end

-- Returns "gzip" or "plain", or nil for an Accept-Encoding with weights, which the shim reads.
local function encoding_of(accepted)
    if not accepted then return "plain" end
    local known = encodings[accepted]
    if known ~= nil then return known or nil end
    local list = "," .. accepted:lower():gsub("%s*,%s*", ","):gsub("^%s+", ""):gsub("%s+$", "") .. ","
    local encoding = "plain"
    if list:find("[;*]") then
        encoding = false
    elseif list:find(",gzip,", 1, true) or list:find(",x-gzip,", 1, true) then
        encoding = "gzip"
    end
    if encodings_left > 0 and #accepted <= 100 then
        encodings[accepted], encodings_left = encoding, encodings_left - 1
    end
    return encoding or nil
end

-- Returns the key as the shim finds it, or nil.
local function sent_key(var)
    local authorization = var.http_authorization
    if authorization then
        local scheme, key = authorization:match("^ *([^ ]*) *(.-) *$")
        if scheme:lower() == "bearer" or scheme == "" then return key end
    end
    local key = var.http_x_api_key
    return key and key:match("^ *(.-) *$")
end

-- Returns the encoding of a request whose answer may be cached, or nil.
local function cacheable(var)
    local pin = var.http_x_build
    if ngx.req.get_method() ~= "GET" or not state.build or #var.request_uri > MAX_URI_BYTES
        or var.http_range or var.http_content_length or var.http_transfer_encoding
        or (pin and pin ~= "" and pin ~= state.build) then
        return nil
    end
    return encoding_of(var.http_accept_encoding)
end

-- Names the cached variant in If-None-Match, since clients may hold the other one.
local function normalise_condition(var, encoding)
    local condition = var.http_if_none_match
    if not condition or condition:match("^%s*%*%s*$") then return end
    local tags, suffix = {}, encoding == "gzip" and "-gzip" or ""
    for tag in condition:gmatch('"([^"]*)"') do
        tags[#tags + 1] = '"' .. tag:gsub("%-gzip$", "") .. suffix .. '"'
    end
    ngx.req.set_header("If-None-Match", table.concat(tags, ", "))
end

-- Chooses between the cache and the shim.
function edge.access()
    local var, now = ngx.var, ngx.time()
    local encoding = cacheable(var)
    local record = encoding and state.record(sent_key(var), now)
    if not record then return ngx.exec("@shim") end
    local name = state.build .. " " .. encoding .. " " .. var.request_uri
    local scope = shared:get(name)
    if scope and (scope == "-" or record.may[scope]) then
        local remaining, reset = counter.hit(record.id, record.rate_limit, now)
        if not remaining then return ngx.exec("@shim") end
        ngx.ctx.usage = { record.rate_limit, remaining, reset }
        var.edge_counted = record.rate_limit .. " " .. remaining .. " " .. reset
        var.edge_unknown = ""
    end
    var.edge_name, var.edge_build = name, state.build
    normalise_condition(var, encoding)
end

-- Writes the usage of this request's key over that of the request that filled the cache.
function edge.headers()
    local usage, header = ngx.ctx.usage, ngx.header
    if usage then
        header["X-RateLimit-Limit"], header["X-RateLimit-Remaining"], header["X-RateLimit-Reset"] = unpack(usage)
    end
    local scope = ngx.var.upstream_http_x_edge_scope
    if scope and not (usage and ngx.var.upstream_cache_status == "HIT") then
        shared:set(ngx.var.edge_name, scope)
    end
end

return edge

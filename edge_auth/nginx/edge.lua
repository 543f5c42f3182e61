-- Answers a request of the API from nginx's memory, if the shim gave the same answer for the live build before, the key
-- is valid and has the scope, and the limit allows it. Everything else goes to the shim, which alone writes errors.

local answers = require "answers"
local counter = require "counter"
local state = require "state"

local MAX_URI_BYTES = 2000
local POLL_SECONDS = 1

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

-- Returns whether If-None-Match names an answer, in either encoding.
local function matches(condition, tag)
    if condition:find("^%s*%*%s*$") then return true end
    for found in condition:gmatch('"([^"]*)"') do
        if found:gsub("%-gzip$", "") == tag then return true end
    end
    return false
end

local function send(answer, not_modified, record, remaining, reset)
    local var = ngx.var
    var.edge_usage = record.rate_limit .. "\r\nx-ratelimit-remaining: " .. remaining .. "\r\nx-ratelimit-reset: " .. reset
    var.edge_head = not_modified and answer.head or answer.full_head
    if not_modified then
        ngx.status = 304
    else
        ngx.header["Content-Length"] = answer.length
        ngx.print(answer.body)
    end
end

-- Answers a request, or passes it on.
function edge.answer()
    local var, now, build = ngx.var, ngx.time(), state.build
    local encoding, uri, pin = var.edge_encoding, var.request_uri, var.http_x_build
    local record = encoding ~= "" and build and state.record(var, now)
    if not record or (pin and pin ~= "" and pin ~= build) or #uri > MAX_URI_BYTES then
        return ngx.exec("@shim")
    end
    local answer, again = answers.find(build, encoding, uri)
    local condition = var.http_if_none_match
    local not_modified = answer and condition and matches(condition, answer.tag)
    if not answer or (not answer.body and not not_modified) then
        var.edge_build = build
        return ngx.exec((answer or again) and "@new" or "@shim")
    end
    if answer.scope ~= "-" and not record.may[answer.scope] then return ngx.exec("@shim") end
    local remaining, reset = counter.hit(record.id, record.rate_limit, now)
    if not remaining then return ngx.exec("@shim") end
    send(answer, not_modified, record, remaining, reset)
end

return edge

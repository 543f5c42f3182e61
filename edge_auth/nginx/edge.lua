-- Answers a request of the API from nginx's memory, if the shim gave the same answer for the live build before, the key
-- is valid and has the scope, and the limit allows it. Everything else goes to the shim, which alone writes errors.

local answers = require "answers"
local counter = require "counter"
local head = require "head"
local metrics = require "metrics"
local state = require "state"
local waiting = require "waiting"

-- What Lua joins to it is at most 28 bytes long: the strings must be short ones (`head`).
local MAX_REQUEST_BYTES = 98
local SPACE = 32 -- what nginx may not answer has no encoding before it
-- A request of a guest has none of these headers.
local OF_OTHERS = { "http_authorization", "http_x_api_key", "http_x_forwarded_for" }
local POLL_SECONDS = 0.5

local edge = {}

-- Starts to follow the live build, what the shim lets nginx answer for, and the counter's file. `places` names these files.
function edge.start(places)
    local function read(premature)
        if premature then return end
        state.read(places)
        counter.open(places.counter)
        metrics.publish()
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

-- Gives the answer to nginx, its log and its counts. The lines of the limit and those of the answer are one header each, as
-- the configuration says.
local function give(var, answer, not_modified, record, remaining, reset)
    var.edge_usage = record.rate_limit .. "\r\nx-ratelimit-remaining: " .. remaining .. "\r\nx-ratelimit-reset: " .. reset
    local sent = answers.hit(answer, not_modified and 304 or 200)
    var.edge_head, var.edge_own = sent.head, sent.own
    var.edge_log, var.edge_key = sent.log, record.log
    metrics.count(sent.series)
    if not_modified then return "unchanged" end
    var.edge_body = answer.body
    return "answer"
end

-- Returns what the shim grants a request without a key, or nil: then the shim decides. It knows which proxies are trusted.
local function guest()
    if not state.guests then return nil end
    for _, name in ipairs(OF_OTHERS) do
        if head.short(name) ~= nil then return nil end
    end
    return state.guests
end

-- Returns what nginx does with a request that it cannot answer: "keep" the answer of the shim, or "wait" for the one that
-- another request gets. An answer that this process was not asked for before is kept only if others wait for it.
local function miss(var, build, request, condition, asked, may_wait)
    var.edge_build = build
    if not may_wait then return "keep" end
    local name = waiting.begin(build, request, condition, asked)
    if not name then return "wait" end
    var.edge_waited_for = name
    return "keep"
end

-- Returns what nginx does with a request: "answer" it, say that it is "unchanged", "keep" the answer of the shim, "pass" it
-- on only, or "wait". It runs before nginx chooses how to answer, where Lua costs least. The key of a request that nginx
-- cannot answer is not looked at: each variable of nginx that Lua reads costs a microsecond.
function edge.decide(may_wait)
    local var, build, request = ngx.var, state.build, head.short("edge_request", MAX_REQUEST_BYTES)
    if not build or not request or request:byte() == SPACE then return "pass" end
    local pin, condition = head.short("http_x_build"), head.short("http_if_none_match")
    if pin == false or condition == false or (pin and pin ~= "" and pin ~= build) then return "pass" end
    local answer, asked = answers.find(build, request)
    local not_modified = answer and condition and matches(condition, answer.tag)
    if not answer or (not answer.body and not not_modified) then
        return miss(var, build, request, condition, answer or asked, may_wait)
    end
    local now = ngx.time()
    local record = not head.is_ambiguous() and (state.key(now) or guest())
    if not record or (answer.scope ~= "-" and not record.may[answer.scope]) then return "pass" end
    local remaining, reset
    if record.id then
        remaining, reset = counter.hit(record.id, record.rate_limit, now)
    else
        remaining, reset = counter.hit_guest(var.binary_remote_addr, record.rate_limit, now)
    end
    return remaining and give(var, answer, not_modified, record, remaining, reset) or "pass"
end

-- Waits for the answer to an equal request. Then nginx decides again.
function edge.wait()
    local var = ngx.var
    waiting.wait(var.edge_build, var.edge_request, var.http_if_none_match)
    return ngx.exec("@waited")
end

return edge

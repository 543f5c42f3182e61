-- The answers that nginx may send again, by build and request: encoding and address as sent. All processes of nginx share
-- them; each process keeps those that it sent lately, as Lua values.

local head = require "head"
local log = require "log"
local metrics = require "metrics"
local waiting = require "waiting"

local shared = ngx.shared.answers
local MAX_BYTES, RECENT_BYTES, ENTRY_BYTES = 1048576, 33554432, 1000
local JSON = "application/json"
-- What nginx writes itself, beside the use of the limit.
local NGINX = {}
for name in ("connection content-length content-type date keep-alive server x-cache x-edge-scope x-edge-endpoint"):gmatch("%S+") do
    NGINX[name] = true
end
-- What differs from answer to answer. The other lines are one string for many answers: `head` says why that matters.
local OWN = { ["etag"] = true, ["x-total-count"] = true }

local recent, recent_bytes, recent_build = {}, 0, nil
local asked, asked_before = {}, {} -- the requests in `recent`, and those that were there before it was emptied

local answers = {}

-- Splits the text of an answer, of which NUL ends each field but the body.
local function parsed(text, build, request)
    local scope, tag, endpoint, lines, own, coding, start = text:match(("(%Z*)%z"):rep(6) .. "()")
    return {
        scope = scope, tag = tag, endpoint = endpoint, lines = lines, own = own, coding = coding, build = build,
        address = request:match(" (.*)"), body = start <= #text and text:sub(start),
    }
end

-- Returns what a hit with 200 or 304 sends, logs and counts: its header lines, those of this answer alone, the fields of its
-- line in the log, and the labels of its count.
function answers.hit(answer, status)
    local found = answer[status]
    if not found then
        local body = status == 200
        found = {
            head = "HIT" .. answer.lines .. (body and answer.coding or "\r\ncontent-type: " .. JSON), own = answer.own,
            log = log.hit(answer.address, answer.endpoint, status, body and #answer.body or 0, answer.build),
            series = metrics.series(answer.endpoint, status, "hit"),
        }
        answer[status] = found
    end
    return found
end

-- Returns the scope, tag and body of an answer and what is sent with it, or nil. The body is false if only the tag is known.
-- Without an answer, the second result says whether the same was requested here before: only then it is worth being kept.
function answers.find(build, request)
    if build ~= recent_build or recent_bytes > RECENT_BYTES then
        recent, recent_bytes, recent_build = {}, 0, build
        asked, asked_before = {}, asked
    end
    local known = recent[request]
    if known then return known end
    local text = shared:get(build .. " " .. request)
    local found = text and parsed(text, build, request)
    recent[request], asked[request] = found and found.body and found or false, true
    recent_bytes = recent_bytes + ENTRY_BYTES + (text and #text or 0)
    return found, known == false or asked_before[request]
end

-- Returns what the text of an answer begins with, before the body, from the header that the shim sent; nil if the answer
-- must not be kept.
local function start_of(scope, endpoint, sent)
    local tag, coding = sent["etag"], sent["content-encoding"]
    local hint = sent["x-search-hint"] -- a long text of each answer
    local may = scope and endpoint and tag and not hint and sent["content-type"] == JSON
    if not may or tonumber(sent["content-length"] or 0) > MAX_BYTES then return end
    local lines, own = {}, {}
    for name, value in pairs(sent) do
        if type(value) ~= "string" then return end -- a header that came twice
        if not NGINX[name] and name ~= "content-encoding" and not name:find("^x%-ratelimit%-") then
            table.insert(OWN[name] and own or lines, "\r\n" .. name .. ": " .. value)
        end
    end
    return table.concat({
        scope, (tag:match('"(.*)"'):gsub("%-gzip$", "")), endpoint, table.concat(lines), table.concat(own),
        coding and "\r\ncontent-encoding: " .. coding or "", "",
    }, "\0")
end

-- Begins to keep an answer of the shim, if it is wanted and the shim allows it by naming the scope.
function answers.begin()
    if not waiting.is_wanted() or head.is_ambiguous() then return waiting.finish() end
    local sent, var = ngx.resp.get_headers(0), ngx.var
    local start = start_of(var.upstream_http_x_edge_scope, var.upstream_http_x_edge_endpoint, sent)
    if not start then return waiting.finish() end -- others need not wait until the client has read what is not kept
    local length = tonumber(sent["content-length"] or 0)
    ngx.ctx.answer = { parts = { start }, length = #start + length, status = ngx.status }
end

local function keep_whole(answer)
    local text, var = table.concat(answer.parts), ngx.var
    local name = var.edge_build .. " " .. var.edge_request
    if answer.status == 304 then
        shared:add(name, text)
    elseif #text == answer.length then
        shared:set(name, text)
    end
end

-- Takes a part of the body. When it is complete, keeps the answer, and then lets other requests go on.
function answers.take()
    local answer, last = ngx.ctx.answer, ngx.arg[2]
    if answer then answer.parts[#answer.parts + 1] = ngx.arg[1] end
    if answer and last then keep_whole(answer) end
    if last then waiting.finish() end
end

return answers

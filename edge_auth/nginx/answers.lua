-- The answers that nginx may send again, by build and request: encoding and address as sent. All processes of nginx share
-- them; each process keeps those that it sent lately, as Lua values.

local shared = ngx.shared.answers
local MAX_BYTES, RECENT_BYTES, ENTRY_BYTES = 1048576, 33554432, 1000
local JSON = "application/json"
-- What nginx writes itself, beside the use of the limit.
local OWN = {}
for name in ("connection content-length content-type date keep-alive server x-cache"):gmatch("%S+") do OWN[name] = true end

local recent, recent_bytes, recent_build = {}, 0, nil

local answers = {}

-- Splits the text of an answer, of which NUL ends each field but the body.
local function parsed(text)
    local scope, tag, head, coding, start = text:match("^(%Z*)%z(%Z*)%z(%Z*)%z(%Z*)%z()")
    return {
        scope = scope, tag = tag, head = "HIT" .. head .. coding, body = start <= #text and text:sub(start),
        unchanged_head = "HIT" .. head .. "\r\ncontent-type: " .. JSON,
    }
end

-- Returns the scope, tag, header lines and body of an answer, or nil. The body is false if only the tag is known. Without
-- an answer, the second result says whether the same was requested here before: only then it is worth being kept.
function answers.find(build, request)
    if build ~= recent_build or recent_bytes > RECENT_BYTES then
        recent, recent_bytes, recent_build = {}, 0, build
    end
    local known = recent[request]
    if known then return known end
    local text = shared:get(build .. " " .. request)
    local found = text and parsed(text)
    recent[request] = found and found.body and found or false
    recent_bytes = recent_bytes + ENTRY_BYTES + (text and #text or 0)
    return found, known == false
end

-- Begins to keep an answer of the shim, if the shim allows it by naming the scope.
function answers.begin()
    local scope, sent = ngx.var.upstream_http_x_edge_scope, ngx.resp.get_headers(0)
    local tag, length = sent["etag"], tonumber(sent["content-length"] or 0)
    if not scope or not tag or length > MAX_BYTES or sent["content-type"] ~= JSON then return end
    local lines, coding = {}, sent["content-encoding"]
    sent["content-encoding"] = nil
    for name, value in pairs(sent) do
        if type(value) ~= "string" then return end -- a header that came twice
        if not OWN[name] and not name:find("^x%-ratelimit%-") then lines[#lines + 1] = "\r\n" .. name .. ": " .. value end
    end
    local head = table.concat({
        scope, (tag:match('"(.*)"'):gsub("%-gzip$", "")), table.concat(lines),
        coding and "\r\ncontent-encoding: " .. coding or "", "",
    }, "\0")
    ngx.ctx.answer = { parts = { head }, length = #head + length, status = ngx.status }
end

-- Takes a part of its body. Keeps the answer when it is complete.
function answers.take()
    local answer = ngx.ctx.answer
    if not answer then return end
    answer.parts[#answer.parts + 1] = ngx.arg[1]
    if not ngx.arg[2] then return end
    local text, var = table.concat(answer.parts), ngx.var
    local name = var.edge_build .. " " .. var.edge_request
    if answer.status == 304 then
        shared:add(name, text)
    elseif #text == answer.length then
        shared:set(name, text)
    end
end

return answers

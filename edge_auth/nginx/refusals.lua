-- What nginx answers itself: requests that are no HTTP, that the shim's server refused without a body, or that find no shim.

local head = require "head"
local log = require "log"
local metrics = require "metrics"

local JSON = "application/json"
local BODY = '{"error":{"code":"%s","message":"%s"}}\n'
local REFUSALS = {
    [400] = BODY:format("invalid_parameter", "the request is malformed, or it has too many headers, or too long ones"),
    [405] = BODY:format("method_not_allowed", "not allowed: Allow names the methods of this path; no request has a body"),
    [429] = BODY:format("rate_limited", "too many downloads of yours are being sent at the same time: wait 5 seconds"),
    [500] = BODY:format("internal_error", "something failed here; try again later"),
}
local HEADERS = {
    ["Cache-Control"] = "no-store",
    ["Access-Control-Allow-Origin"] = "*",
    ["X-Content-Type-Options"] = "nosniff",
    ["Access-Control-Expose-Headers"] = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, "
        .. "ETag, X-Build, X-Total-Count, X-Search-Hint, Accept-Ranges, Content-Range",
}
local RETRY_SECONDS = 5
local UNCOUNTED = "/healthz" -- neither does the shim log and count it

local refusals = {}

-- Returns the methods of a path. HEAD is for the pages and the bulk files.
local function methods(address)
    local path = address:match("^[^?]*") .. "/"
    local page = path == "//" or path:find("^/docs/") or path:find("^/explore/")
    return (page or path:find("^/api/v1/bulk/[^/]")) and "GET, HEAD" or "GET"
end

-- Logs and counts a refusal, sets its headers and returns its body.
local function prepare(status)
    local header, body, address = ngx.header, REFUSALS[status], head.start("request_uri", log.MAX_READ_BYTES)
    if address ~= UNCOUNTED then
        ngx.var.edge_log = log.refusal(head.start("request_method", log.MAX_READ_BYTES), address, status, #body)
        metrics.count(metrics.series("none", status, "none"))
    end
    for name, value in pairs(HEADERS) do header[name] = value end
    header["Content-Type"], header["Content-Length"] = JSON, #body
    if status == 405 then header["Allow"] = methods(address or "") end
    if status == 429 or status == 500 then header["Retry-After"] = RETRY_SECONDS end
    return body
end

-- Sends the refusal whose status nginx has set.
function refusals.send()
    ngx.req.discard_body()
    ngx.print(prepare(ngx.status))
end

-- Gives an answer a body if it is a refusal of the shim's server, which has none: the shim's own errors are JSON.
function refusals.begin()
    if ngx.status < 400 or ngx.header["Content-Type"] then return end
    ngx.status = 400
    ngx.ctx.refusal = prepare(400)
end

-- Replaces the body that is empty.
function refusals.take()
    local body = ngx.ctx.refusal
    if body then ngx.arg[1], ngx.arg[2], ngx.ctx.refusal = body, true, nil end
end

return refusals

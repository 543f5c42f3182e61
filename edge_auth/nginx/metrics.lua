-- What nginx counts for Prometheus. Each process adds up its own counts, and gives them to all processes once a second: a
-- count in shared memory takes a lock.

local shared = ngx.shared.counts
local NAME = "cardpress_edge_requests_total"
local HELP = "Requests answered, by nginx from its cache (hit), by the shim (miss), or refused by nginx itself (none)."

local counts = {}

local metrics = {}

-- Returns the labels of a count: an endpoint as the shim names it, the status, and `hit`, `miss` or `none`.
function metrics.series(endpoint, status, cache)
    return ('endpoint="%s",status="%d",cache="%s"'):format(endpoint, status, cache)
end

-- Counts an answer.
function metrics.count(series)
    counts[series] = (counts[series] or 0) + 1
end

-- Counts an answer of the shim, which names the endpoint. It names none for what it does not count: /healthz.
function metrics.miss()
    local endpoint = ngx.var.upstream_http_x_edge_endpoint
    if endpoint then metrics.count(metrics.series(endpoint, ngx.status, "miss")) end
end

-- Gives the counts of this process to all.
function metrics.publish()
    local published = counts
    counts = {}
    for series, number in pairs(published) do shared:incr(series, number, 0) end
end

-- Answers a scrape.
function metrics.send()
    metrics.publish()
    local lines = { "# HELP " .. NAME .. " " .. HELP, "# TYPE " .. NAME .. " counter" }
    local all = shared:get_keys(0)
    table.sort(all)
    for _, series in ipairs(all) do lines[#lines + 1] = NAME .. "{" .. series .. "} " .. shared:get(series) end
    ngx.header["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    ngx.say(table.concat(lines, "\n"))
end

return metrics

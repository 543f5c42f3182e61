-- Puts the build that the pointer names into force, in all processes of nginx at once. Before that, each process fetches the
-- answers that its clients asked for most, so that they are in the cache from the first request on.

local answers = require "answers"
local state = require "state"

local shared = ngx.shared.answers
-- The build in force, when a process first saw that the pointer names another one, and how many processes fetch its answers.
local IN_FORCE, SINCE, FETCHING = "build", "since", "fetching "
local MAX_SECONDS = 2    -- from SINCE until the build is in force
local NOTICED_SECONDS = 0.3 -- within which every process has begun
local FORGOTTEN_SECONDS = 5
local TIMEOUT_MILLISECONDS, CONNECTIONS = 2000, 8

local fetched -- the build whose answers this process has fetched last

local switch = {}

local function put_in_force(build)
    shared:set(IN_FORCE, build)
    shared:delete(SINCE)
    state.build = build
end

-- Returns the header of an answer by name in lower case, or nil if the shim is gone or ends.
local function read_header(shim)
    local status, header = shim:receive(), {}
    if not status then return nil end
    repeat
        local line = shim:receive()
        local name, value = (line or ""):match("^([^:]+): *(.*)$")
        if name then header[name:lower()] = value end
    until not name
    return not header["connection"] and header
end

-- Asks the shim for an answer as a client that may read everything would, and keeps it. Returns whether to go on.
local function fetch(shim, build, request)
    local coding, address = request:match("^(%a+) (.*)$")
    local lines = { "GET " .. address .. " HTTP/1.1", "Host: localhost", "X-Build: " .. build, "X-Edge-Build: fetch " .. build }
    if coding == "gzip" then lines[#lines + 1] = "Accept-Encoding: gzip" end
    local header = shim:send(table.concat(lines, "\r\n") .. "\r\n\r\n") and read_header(shim)
    local body = header and shim:receive(tonumber(header["content-length"] or 0))
    if body then answers.keep(build, request, header, body) end
    return body
end

-- Returns a function that returns the next request to fetch, until the time is over, half of the memory is used, or the
-- pointer has moved on.
local function next_request(build, deadline)
    local requests, number, free = answers.asked_most(), 0, shared:capacity() / 2
    return function(fetched_bytes)
        free = free - fetched_bytes
        repeat number = number + 1 until not requests[number] or not answers.has(build, requests[number])
        return ngx.now() < deadline and free > 0 and state.named == build and requests[number]
    end
end

-- Fetches answers on one connection.
local function fetch_some(build, path, next)
    local shim = ngx.socket.tcp()
    shim:settimeout(TIMEOUT_MILLISECONDS)
    if not shim:connect(path) then return end
    local request, body = next(0), ""
    while request and body do
        body = fetch(shim, build, request)
        request = body and next(#body)
    end
    shim:close()
end

-- Fetches the answers of a build. On several connections, since a process of nginx that is busy turns to each one seldom.
local function fetch_all(build, path, deadline)
    local next, threads = next_request(build, deadline), {}
    fetched = build
    shared:incr(FETCHING .. build, 1, 0, FORGOTTEN_SECONDS)
    for number = 1, math.max(1, CONNECTIONS / ngx.worker.count()) do
        threads[number] = ngx.thread.spawn(fetch_some, build, path, next)
    end
    for _, thread in ipairs(threads) do ngx.thread.wait(thread) end
    shared:incr(FETCHING .. build, -1)
end

-- Returns the build in force. A process that learns of a switch reads the pointer again: it must not go back to a build that
-- it has read before.
local function adopt(read_pointer)
    local build = shared:get(IN_FORCE)
    if build ~= state.build or (state.named == build and shared:get(SINCE)) then read_pointer() end
    state.build = build
    return build
end

-- Brings the build that the pointer names into force, if another one is. `path` is the socket of the shim; without it, the
-- build is in force at once.
function switch.follow(path, read_pointer)
    local in_force, named, now = adopt(read_pointer), state.named, ngx.now()
    if not named or named == in_force then return end
    if not in_force or not path then return put_in_force(named) end
    shared:add(SINCE, now, FORGOTTEN_SECONDS)
    local since = shared:get(SINCE) or 0
    if now > since + MAX_SECONDS then return put_in_force(named) end
    if fetched ~= named then return fetch_all(named, path, since + MAX_SECONDS) end
    if now > since + NOTICED_SECONDS and (shared:get(FETCHING .. named) or 0) <= 0 then put_in_force(named) end
end

return switch

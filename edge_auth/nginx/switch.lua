-- Puts the build from which the shim answers into force, in all processes of nginx at once. Before that, each process fetches
-- the answers that its clients asked for most, so that they are in the cache from the first request on.

local answers = require "answers"
local state = require "state"

local shared = ngx.shared.answers
-- The build in force, when a process first saw that the shim answers from another one, and how many processes fetch its answers.
local IN_FORCE, SINCE, FETCHING = "build", "since", "fetching "
local MAX_SECONDS = 1.5    -- from SINCE until the build is in force
local NOTICED_SECONDS = 0.3 -- within which every process has begun
local FORGOTTEN_SECONDS = 5
-- The shim makes a few answers at once and then pauses, so that on a busy machine it takes no long turns from nginx.
local AT_ONCE, PAUSE_SECONDS = 8, 0.001
local TIMEOUT_MILLISECONDS, TEXTS = 10000, "application/http" -- another worker of the shim may be opening the build

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

-- Reads and keeps the answer to a request. Returns its bytes, or nil if the shim is gone.
local function keep_answer(shim, build, request)
    local header = read_header(shim)
    local body = header and shim:receive(tonumber(header["content-length"] or 0))
    if body then answers.keep(build, request, header, body) end
    return body and #body
end

-- Asks the shim for the answers to some requests at once, and keeps them. Returns their bytes, or nil if the shim is gone or
-- ends.
local function fetch(shim, build, requests)
    local lines, bytes = table.concat(requests, "\n"), 0
    local head = { "POST / HTTP/1.1", "Host: localhost", "X-Edge-Build: fetch " .. build, "Content-Length: " .. #lines }
    if not shim:send(table.concat(head, "\r\n") .. "\r\n\r\n" .. lines) then return end
    local header = read_header(shim)
    if not header or header["content-type"] ~= TEXTS then return end
    for _, request in ipairs(requests) do
        local found = keep_answer(shim, build, request)
        if not found then return end
        bytes = bytes + found
    end
    return bytes
end

-- Returns a function that returns the next requests to fetch, until the time is over, half of the memory is used, or the
-- shim answers from another build. Then they are none.
local function next_requests(build, deadline)
    local requests, number, free = answers.asked_most(), 0, shared:capacity() / 2
    return function(fetched_bytes)
        local found = {}
        free = free - fetched_bytes
        if ngx.now() >= deadline or free <= 0 or state.named ~= build then return found end
        while #found < AT_ONCE and number < #requests do
            number = number + 1
            if not answers.has(build, requests[number]) then found[#found + 1] = requests[number] end
        end
        return found
    end
end

-- Fetches the answers of a build.
local function fetch_all(build, path, deadline)
    local shim, next = ngx.socket.tcp(), next_requests(build, deadline)
    shared:incr(FETCHING .. build, 1, 0, FORGOTTEN_SECONDS)
    shim:settimeout(TIMEOUT_MILLISECONDS)
    local bytes = shim:connect(path) and 0
    local requests = bytes and next(bytes)
    while bytes and #requests > 0 do
        bytes = fetch(shim, build, requests)
        ngx.sleep(PAUSE_SECONDS)
        requests = bytes and next(bytes)
    end
    shim:close()
    shared:incr(FETCHING .. build, -1)
end

-- Brings the build from which the shim answers into force, if another one is. `path` is the socket of the shim; without it,
-- the build is in force at once.
function switch.follow(path)
    local in_force, now = shared:get(IN_FORCE), ngx.now()
    state.read_live() -- after IN_FORCE: a process must not go back to a build that it has read before
    local named = state.named
    state.build = in_force
    if not named or named == in_force then return end
    if not in_force or not path then return put_in_force(named) end
    shared:add(SINCE, now, FORGOTTEN_SECONDS)
    local since = shared:get(SINCE) or 0
    if now > since + MAX_SECONDS then return put_in_force(named) end
    if fetched ~= named then
        fetched = named
        return fetch_all(named, path, since + MAX_SECONDS)
    end
    if now > since + NOTICED_SECONDS and (shared:get(FETCHING .. named) or 0) <= 0 then put_in_force(named) end
end

return switch

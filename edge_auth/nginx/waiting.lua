-- While the shim makes an answer for one request, equal requests in all processes of nginx wait for it. Then each of them is
-- decided, and counted, on its own. A request waits once, and not for long: then it goes to the shim itself.

local shared = ngx.shared.answers
local MAX_SECONDS = 2
local FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.001, 0.05

local waiting = {}

-- Returns the name of equal requests. Those with a condition may get an answer that has no body for others.
local function name_of(build, request, condition)
    return (condition and "if " or "for ") .. build .. " " .. request
end

-- Lets other requests wait for this one. Returns the name of what they wait for, or nil if this request has to wait for
-- another one. The number under this name says whether the answer is wanted later: it was `asked` for before, or some wait.
function waiting.begin(build, request, condition, asked)
    local name = name_of(build, request, condition)
    return shared:add(name, asked and 1 or 0, MAX_SECONDS) and name
end

-- Waits until the other request has its answer. Processes of nginx cannot wake each other.
function waiting.wait(build, request, condition)
    local name, stop, pause = name_of(build, request, condition), ngx.now() + MAX_SECONDS, FIRST_PAUSE_SECONDS
    local goes_on = shared:incr(name, 1)
    while goes_on and ngx.now() < stop do
        ngx.sleep(pause)
        goes_on, pause = shared:get(name), math.min(2 * pause, MAX_PAUSE_SECONDS)
    end
end

-- Returns whether the answer to this request is to be kept. One that others wait for no more has an empty name.
function waiting.is_wanted()
    local name = ngx.var.edge_waited_for
    return name == "" or shared:get(name) ~= 0
end

-- Lets those go on that wait for this request.
function waiting.finish()
    local name = ngx.var.edge_waited_for
    if name and name ~= "" then shared:delete(name) end
end

return waiting

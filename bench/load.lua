-- The script that `load.py` gives to wrk: it requests the targets of a file in turn and prints one line of JSON at the end.
-- Arguments: file, "once" or "again" (stop or begin again after its last line), mean pause of a connection in ms.
local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long ns; } moment; int clock_gettime(int, moment *); int getpid(); int kill(int, int);")
local SIGINT = 2

local function now()
  local moment = ffi.new("moment")
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.s) + tonumber(moment.ns) / 1e9
end

local threads = {}
local requests, at, again, began = {}, -1, true, 0
exhausted = 0 -- seconds until every target was requested; 0 if that did not happen

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format(nil, line)
  end
  again = args[2] == "again"
  local pause = tonumber(args[3])
  if pause > 0 then
    math.randomseed(1)
    delay = function() return math.random(0, 2 * pause) end
  end
end

function request()
  at = at + 1
  if at == 0 then return requests[1] end -- wrk takes one request before it begins
  if at == 1 then began = now() end
  if at > #requests and not again then
    if exhausted == 0 then exhausted = now() - began end
    wrk.thread:stop()
    ffi.C.kill(ffi.C.getpid(), SIGINT) -- else wrk sleeps for the rest of its duration
  end
  return requests[(at - 1) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"p50":%.3f,"p99":%.3f,"max":%.3f,"exhausted":%.6f,"failed":%d}',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3, threads[1]:get("exhausted"),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end

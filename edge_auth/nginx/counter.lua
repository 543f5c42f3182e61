-- Counts requests of keys in the file that the shims count in, so that the limit is exact over all of them.
-- The layout of the file and the rules are those of edge_auth/host/file_counter.py; a test compares the two.

local ffi = require "ffi"

ffi.cdef [[
    typedef struct { uint64_t tag; uint32_t window; uint32_t used; } cardpress_slot;
    typedef struct { const char *key; unsigned int type; void *data; size_t size; size_t returned; } cardpress_parameter;
    int open(const char *path, int flags, ...);
    int close(int file);
    int64_t lseek(int file, int64_t offset, int whence);
    int lockf(int file, int command, int64_t length);
    int64_t pread(int file, void *data, size_t size, int64_t offset);
    int64_t pwrite(int file, const void *data, size_t size, int64_t offset);
    unsigned char *EVP_Q_mac(void *library, const char *name, const char *properties, const char *algorithm,
        const cardpress_parameter *parameters, const void *key, size_t key_size, const unsigned char *data,
        size_t data_size, unsigned char *out, size_t out_size, size_t *out_length);
]]

local C = ffi.C
local O_RDWR, F_ULOCK, F_TLOCK = 2, 0, 2
local SECRET_BYTES, HEADER_BYTES = 32, 4096
local BUCKETS, SLOTS, MAX_KEY_TABLES = 8192, 8, 64
local SLOT_BYTES = 16
local BUCKET_BYTES = SLOTS * SLOT_BYTES
local TABLE_BYTES = BUCKETS * BUCKET_BYTES
local WINDOW_SECONDS, MAX_WINDOWS_AHEAD = 60, 60
local MAX_LOCK_ATTEMPTS = 2000

local slots = ffi.new("cardpress_slot[?]", SLOTS)
local digest = ffi.new("union { unsigned char bytes[12]; uint32_t numbers[3]; }")
local file, secret, path
local places = {} -- by key id: the offset of its first bucket, and its tag

local counter = {}

-- Opens the counter's file, again if it was replaced. Returns whether there is one.
function counter.open(new_path)
    path = new_path
    local opened = C.open(path, O_RDWR)
    if opened < 0 then return file ~= nil end
    local data = ffi.new("unsigned char[?]", SECRET_BYTES)
    local found = C.pread(opened, data, SECRET_BYTES, 0) == SECRET_BYTES and ffi.string(data, SECRET_BYTES)
    if not found or found == secret then
        C.close(opened)
        return file ~= nil
    end
    if file then C.close(file) end
    file, secret, places = opened, found, {}
    return true
end

-- Returns where a key is counted: a keyed BLAKE2b of its name gives the bucket and the tag.
local function place_of(id)
    local place = places[id]
    if place then return place end
    local name = "key " .. id
    local size, length = ffi.new("size_t[1]", 12), ffi.new("size_t[1]")
    local parameters = ffi.new("cardpress_parameter[2]")
    local key = "size"
    parameters[0].key, parameters[0].type = key, 2 -- an unsigned integer
    parameters[0].data, parameters[0].size = size, ffi.sizeof("size_t")
    if C.EVP_Q_mac(nil, "BLAKE2BMAC", nil, nil, parameters, secret, SECRET_BYTES, name, #name,
                   digest.bytes, 12, length) == nil then
        return nil
    end
    local tag = ffi.new("uint64_t", digest.numbers[2]) * 4294967296ULL + digest.numbers[1]
    place = {
        bucket = HEADER_BYTES + TABLE_BYTES + digest.numbers[0] % BUCKETS * BUCKET_BYTES,
        tag = tag ~= 0 and tag or ffi.new("uint64_t", 1),
    }
    places[id] = place
    return place
end

local function lock(offset)
    C.lseek(file, offset, 0)
    for _ = 1, MAX_LOCK_ATTEMPTS do
        if C.lockf(file, F_TLOCK, 1) == 0 then return true end
    end
    return false
end

local function unlock(offset)
    C.lseek(file, offset, 0)
    C.lockf(file, F_ULOCK, 1)
end

-- Returns the window and the count that a slot has now. The count of a past window is 0.
local function current(slot, window)
    if slot.window >= window and slot.window < window + MAX_WINDOWS_AHEAD then
        return slot.window, slot.used
    end
    return window, 0
end

-- Returns the offset, window and count of the slot that has the tag, or nil. A key without a slot is left to the shim.
local function find(place, window)
    for table_number = 0, MAX_KEY_TABLES - 1 do
        local bucket, full = place.bucket + table_number * TABLE_BYTES, true
        local read = tonumber(C.pread(file, slots, BUCKET_BYTES, bucket))
        for number = 0, SLOTS - 1 do
            if read < (number + 1) * SLOT_BYTES or slots[number].tag == 0 then
                full = false
            elseif slots[number].tag == place.tag then
                return bucket + number * SLOT_BYTES, current(slots[number], window)
            end
        end
        if not full then return nil end
    end
end

-- Counts a request of a key at `now` (Unix time). Returns the remaining requests and the end of the minute, or nil if
-- the shim has to decide: the key is over its limit, has no slot yet, or the file cannot be used.
function counter.hit(id, limit, now)
    local place = file and place_of(id)
    if not place or not lock(place.bucket) then return nil end
    local offset, window, used = find(place, math.floor(now / WINDOW_SECONDS))
    local counted = offset and used < limit
    if counted then
        slots[0].tag, slots[0].window, slots[0].used = place.tag, window, used + 1
        counted = C.pwrite(file, slots, SLOT_BYTES, offset) == SLOT_BYTES
    end
    unlock(place.bucket)
    if not counted then return nil end
    return limit - used - 1, (window + 1) * WINDOW_SECONDS
end

return counter

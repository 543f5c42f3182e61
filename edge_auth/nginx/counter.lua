-- Counts requests of keys in the file that the shims count in, so that the limit is exact over all of them.
-- The layout of the file and the rules are those of edge_auth/live/counter.py; a test compares the two. The file is
-- mapped into memory: the shim never makes it smaller. If another program does, nginx replaces the process that notices.

local ffi = require "ffi"

ffi.cdef [[
    typedef struct { uint32_t tag_low, tag_high, window, used; } cardpress_slot;
    typedef struct { int16_t type, whence; int64_t start, length; int32_t process; } cardpress_lock;
    typedef struct { const char *key; unsigned int type; void *data; size_t size; size_t returned; } cardpress_parameter;
    int open(const char *path, int flags, ...);
    int close(int file);
    int64_t lseek(int file, int64_t offset, int whence);
    int64_t pread(int file, void *data, size_t size, int64_t offset);
    int fcntl(int file, int command, cardpress_lock *lock);
    void *mmap(void *address, size_t size, int protection, int flags, int file, int64_t offset);
    int munmap(void *address, size_t size);
    unsigned char *EVP_Q_mac(void *library, const char *name, const char *properties, const char *algorithm,
        const cardpress_parameter *parameters, const void *key, size_t key_size, const unsigned char *data,
        size_t data_size, unsigned char *out, size_t out_size, size_t *out_length);
]]

local C = ffi.C
local O_RDWR, SEEK_END, READ_AND_WRITE, SHARED = 2, 2, 3, 1
local F_SETLK, F_WRLCK, F_UNLCK = 6, 1, 2
local SECRET_BYTES, HEADER_BYTES, SLOT_BYTES = 32, 4096, 16
local BUCKETS, SLOTS = 8192, 8
local RESERVED_BYTES = HEADER_BYTES + 2 * BUCKETS * SLOTS * SLOT_BYTES -- with a table of addresses and one of keys
local KEYS, GUESTS = BUCKETS * SLOTS, 0 -- the first slots of their tables
local MAX_GUESTS = 4096
local IPV4_IN_IPV6 = ("\0"):rep(10) .. "\255\255"
local NO_SECRET = ("\0"):rep(SECRET_BYTES)
local WINDOW_SECONDS = 60
-- A window this far ahead counts, because a clock was set back a little. One further ahead is an error of a clock.
local MAX_WINDOWS_AHEAD = 2
local MAX_LOCK_ATTEMPTS = 2000

local byte = ffi.new("cardpress_lock", { length = 1 })
-- One buffer, made once: where the LuaJIT of Debian 12 has compiled a function that makes an array of a variable size
-- (`char[?]`), it overwrites other objects, and a process that polled for two minutes crashed at its next requests.
local start = ffi.new("char[?]", SECRET_BYTES)
local file, secret
local slots       -- the file in memory, as far as its first table of keys
local places = {} -- by key id: where it is counted
local guests, guests_number = {}, 0 -- the same by the name of an address

local counter = {}

local function close()
    if not file then return end
    C.munmap(slots, RESERVED_BYTES)
    C.close(file)
    file = nil
end

-- Opens the counter's file anew, since it may have been replaced or truncated. nginx counts in it only if it holds a secret
-- and the space that the shim reserves before: a process that touches a page for which the disk has no room is killed.
-- Until then the shim counts alone.
function counter.open(path)
    close()
    local opened = C.open(path, O_RDWR)
    if opened < 0 then return end
    local read = C.pread(opened, start, SECRET_BYTES, 0)
    local found = ffi.string(start, SECRET_BYTES)
    local whole = read == SECRET_BYTES and found ~= NO_SECRET and C.lseek(opened, 0, SEEK_END) >= RESERVED_BYTES
    local memory = whole and C.mmap(nil, RESERVED_BYTES, READ_AND_WRITE, SHARED, opened, 0)
    if not memory or ffi.cast("intptr_t", memory) == -1 then
        C.close(opened)
        return
    end
    if found ~= secret then places, guests, guests_number = {}, {}, 0 end
    file, secret, slots = opened, found, ffi.cast("cardpress_slot *", memory)
end

-- Returns where a name is counted: a keyed BLAKE2b of it gives the bucket and the tag.
local function place_of(name, first_slot)
    local digest = ffi.new("uint32_t[3]")
    local size, length = ffi.new("size_t[1]", 12), ffi.new("size_t[1]")
    local parameters = ffi.new("cardpress_parameter[2]")
    local key = "size"
    parameters[0].key, parameters[0].type = key, 2 -- an unsigned integer
    parameters[0].data, parameters[0].size = size, ffi.sizeof("size_t")
    if C.EVP_Q_mac(nil, "BLAKE2BMAC", nil, nil, parameters, secret, SECRET_BYTES, name, #name,
                   ffi.cast("unsigned char *", digest), 12, length) == nil then
        return nil
    end
    local bucket = HEADER_BYTES / SLOT_BYTES + first_slot + digest[0] % BUCKETS * SLOTS
    local low = (digest[1] ~= 0 or digest[2] ~= 0) and digest[1] or 1
    return { bucket = bucket, slot = bucket, low = low, high = digest[2] }
end

local function place_of_key(id)
    places[id] = place_of("key " .. id, KEYS)
    return places[id]
end

-- Returns the name under which the requests of an address are counted together, as `guest_name` of the shim: an IPv4 address,
-- or the first half of an IPv6 one in hexadecimal digits. nil for a client that has no address.
local function name_of_guest(address)
    if #address == 16 and address:sub(1, 12) == IPV4_IN_IPV6 then address = address:sub(13) end
    if #address == 4 then return ("guest %d.%d.%d.%d"):format(address:byte(1, 4)) end
    return #address == 16 and "guest " .. ("%02x"):rep(8):format(address:byte(1, 8)) or nil
end

local function place_of_guest(address)
    local name = name_of_guest(address)
    if not name then return nil end
    if guests_number >= MAX_GUESTS then guests, guests_number = {}, 0 end
    guests[address], guests_number = place_of(name, GUESTS), guests_number + 1
    return guests[address]
end

local function set_lock(kind, place)
    byte.type, byte.start = kind, place.bucket * SLOT_BYTES
    return C.fcntl(file, F_SETLK, byte) == 0
end

local function lock(place)
    for _ = 1, MAX_LOCK_ATTEMPTS do
        if set_lock(F_WRLCK, place) then return true end
    end
    return false
end

local function has(place, slot)
    return slots[slot].tag_low == place.low and slots[slot].tag_high == place.high
end

-- Returns the slot that has the tag of a key, or nil. The shim counts a key that has no slot in the first table of keys.
local function find(place)
    if has(place, place.slot) then return slots[place.slot] end
    for slot = place.bucket, place.bucket + SLOTS - 1 do
        if has(place, slot) then
            place.slot = slot
            return slots[slot]
        end
    end
end

-- Counts a request in a slot that is locked. The count of a past window is 0.
local function count(slot, limit, window)
    local used = 0
    if slot.window >= window and slot.window <= window + MAX_WINDOWS_AHEAD then
        window, used = slot.window, slot.used
    end
    if used >= limit then return nil end
    slot.window, slot.used = window, used + 1
    return limit - used - 1, (window + 1) * WINDOW_SECONDS
end

-- Counts a request at `now` (Unix time), of a key or of an address in nginx's binary form. Returns the remaining requests and
-- the end of the minute, or nil if the shim has to decide: the limit is reached, there is no slot yet, or the file cannot be
-- used.
local function hit(place, limit, now)
    if not place or not lock(place) then return nil end
    local slot, remaining, reset = find(place), nil, nil
    if slot then remaining, reset = count(slot, limit, math.floor(now / WINDOW_SECONDS)) end
    set_lock(F_UNLCK, place)
    return remaining, reset
end

function counter.hit(id, limit, now)
    return hit(file and (places[id] or place_of_key(id)), limit, now)
end

function counter.hit_guest(address, limit, now)
    return hit(file and (guests[address] or place_of_guest(address)), limit, now)
end

return counter

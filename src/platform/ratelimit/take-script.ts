/**
 * Lua script that takes tokens from a bucket atomically.
 *
 * A bucket is stored as the time, in microseconds of Redis's clock, at which it will be full again. A full bucket is a missing
 * key, so keys expire by themselves. The script returns whether the call is allowed and in how many microseconds the bucket is
 * full. A time later than that of an empty bucket means that the clock was set back or the rate was raised; the bucket is then
 * treated as empty. Numbers are formatted with %.0f, because Lua's default format loses the last of 16 digits.
 */
export const takeScript = `
local cost = tonumber(ARGV[1])
local bucket = tonumber(ARGV[2])
local clock = redis.call("TIME")
local now = clock[1] * 1000000 + clock[2]
local full_in = math.max(0, (tonumber(redis.call("GET", KEYS[1])) or 0) - now)
local function store(span)
  redis.call("SET", KEYS[1], string.format("%.0f", now + span), "PX", math.ceil(span / 1000) + 1)
end
if full_in > bucket then
  full_in = bucket
  store(bucket)
end
local wanted = full_in + cost
if wanted > bucket then
  return {0, string.format("%.0f", full_in)}
end
if cost > 0 then store(wanted) end
return {1, string.format("%.0f", wanted)}
`;

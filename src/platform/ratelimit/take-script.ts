/**
 * Takes tokens from a bucket in one step that nothing can come between.
 *
 * The bucket is the time, in microseconds of Redis's own clock, at which it will be full again. A full bucket is a
 * missing key, so keys expire by themselves. Answers whether it was allowed and in how many microseconds the bucket
 * is full. A time further off than an empty bucket means that the clock was set back or the rate raised: it is brought
 * near, so that the bucket fills from now on. Numbers are printed with %.0f: Lua's own spelling of 16 digits would lose
 * the last ones.
 */
export const takeScript = `
local cost = tonumber(ARGV[1])
local bucket = tonumber(ARGV[2])
local clock = redis.call("TIME")
local now = clock[1] * 1000000 + clock[2]
local full_in = math.max(0, (tonumber(redis.call("GET", KEYS[1])) or 0) - now)
local function keep(span)
  redis.call("SET", KEYS[1], string.format("%.0f", now + span), "PX", math.ceil(span / 1000) + 1)
end
if full_in > bucket then
  full_in = bucket
  keep(bucket)
end
local wanted = full_in + cost
if wanted > bucket then
  return {0, string.format("%.0f", full_in)}
end
if cost > 0 then keep(wanted) end
return {1, string.format("%.0f", wanted)}
`;

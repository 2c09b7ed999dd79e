/**
 * What must happen in one step on the server. All keys of a script belong to one object and so to one slot. Times are
 * Redis's own, so that the clocks of replicas need not agree. Tokens are decimal texts: Lua's numbers would round them
 * above 2^53.
 */

/**
 * Defines `fenced(key, scope, token)`: the higher token if this one is refused; else it is remembered. No scope: no
 * fence.
 */
const FENCE = `
local function below(a, b) return #a < #b or (#a == #b and a < b) end
local function fenced(key, scope, token)
  if scope == '' then return nil end
  local highest = redis.call('HGET', key, scope)
  if highest and below(token, highest) then return highest end
  if highest ~= token then redis.call('HSET', key, scope, token) end
  redis.call('PERSIST', key)
  return nil
end
`;

/** Defines `conflicts(stored, expected)`: whether a record is not what the writer expects. */
const COMPARE = `
local function conflicts(stored, expected)
  if expected == 'any' then return false end
  if expected == 'absent' then return stored ~= false end
  return not stored or string.match(stored, '^(%S+) ') ~= expected
end
`;

/** Defines `now()` in milliseconds. */
const NOW = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** keys: records, fences; name, expected, stored text, scope, token → ok | conflict | fenced, highest */
const put = `${FENCE}${COMPARE}
local highest = fenced(KEYS[2], ARGV[4], ARGV[5])
if highest then return {'fenced', highest} end
if conflicts(redis.call('HGET', KEYS[1], ARGV[1]), ARGV[2]) then return {'conflict'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return {'ok'}
`;

/** keys: records, fences; name, expected, scope, token → ok, "1" if there was one | conflict | fenced, highest */
const remove = `${FENCE}${COMPARE}
local highest = fenced(KEYS[2], ARGV[3], ARGV[4])
if highest then return {'fenced', highest} end
if conflicts(redis.call('HGET', KEYS[1], ARGV[1]), ARGV[2]) then return {'conflict'} end
return {'ok', tostring(redis.call('HDEL', KEYS[1], ARGV[1]))}
`;

/** keys: fences; scope, token → ok | fenced, highest */
const raise = `${FENCE}
local highest = fenced(KEYS[1], ARGV[1], ARGV[2])
if highest then return {'fenced', highest} end
return {'ok'}
`;

/**
 * keys: records, fences, counts, streams; scope, token, ms that tokens outlive the rest, prefix of the stream keys → as
 * raise
 */
const forget = `${FENCE}
local highest = fenced(KEYS[2], ARGV[1], ARGV[2])
if highest then return {'fenced', highest} end
for _, stream in ipairs(redis.call('SMEMBERS', KEYS[4])) do redis.call('DEL', ARGV[4] .. stream) end
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {'ok'}
`;

/** keys: counts; replica, ttl, json. Drops those whose time is over, and the key with the last of them. */
const report = `${NOW}
local time = now()
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', time + ARGV[2]) .. ' ' .. ARGV[3])
local latest = time
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local ends = tonumber(string.match(all[i + 1], '^(%d+) '))
  if ends and ends <= time then redis.call('HDEL', KEYS[1], all[i]) end
  if ends and ends > latest then latest = ends end
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', latest - time))
return 'ok'
`;

/**
 * keys: counts → replica, json, … of those alive. One that is not ours is handed out as it is, for the reader to name.
 */
const counts = `${NOW}
local time = now()
local alive = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local ends, json = string.match(all[i + 1], '^(%d+) (.*)$')
  if not ends or tonumber(ends) > time then
    alive[#alive + 1] = all[i]
    alive[#alive + 1] = json or all[i + 1]
  end
end
return alive
`;

/** keys: stream, streams; limit, text, stream name, channel → id */
const append = `
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[1], '*', 'text', ARGV[2])
redis.call('SADD', KEYS[2], ARGV[3])
redis.call('PUBLISH', ARGV[4], id)
return id
`;

/** keys: stream; id to read after or "", limit → "1" if that id is gone, entries */
const read = `
local gap, from = '0', '-'
if ARGV[1] ~= '' then
  if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then gap = '1' else from = '(' .. ARGV[1] end
end
return {gap, redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', ARGV[2])}
`;

/** For ioredis, which sends each by its hash and loads it where the server does not know it. */
export const scripts = {
  ekPut: { lua: put, numberOfKeys: 2 },
  ekDelete: { lua: remove, numberOfKeys: 2 },
  ekRaise: { lua: raise, numberOfKeys: 1 },
  ekForget: { lua: forget, numberOfKeys: 4 },
  ekReport: { lua: report, numberOfKeys: 1 },
  ekCounts: { lua: counts, numberOfKeys: 1, readOnly: true },
  ekAppend: { lua: append, numberOfKeys: 2 },
  ekRead: { lua: read, numberOfKeys: 1, readOnly: true },
};

type Script = (...keysAndArguments: readonly (string | number)[]) => Promise<unknown>;

export type Scripts = Readonly<Record<keyof typeof scripts, Script>>;

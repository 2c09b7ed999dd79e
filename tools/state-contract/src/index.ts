export { describeRedis } from "./given-redis.ts";
export { openedState, type OpenedState } from "./opened-state.ts";
export { findRedisServer, freePorts, type Persistence, RedisServer } from "./redis-server.ts";
export { SentinelSet } from "./sentinel-set.ts";

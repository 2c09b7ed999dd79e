import { describe, test } from "@jest/globals";
import { findRedisServer } from "./redis-server.ts";

/** Registers cases that need a real redis-server, or one skipped case that says why there are none. */
export function describeRedis(what: string, cases: () => void): void {
  if (findRedisServer() !== undefined) describe(what, cases);
  else test.skip(`${what}: redis-server is not installed (Debian: redis-server)`, () => undefined);
}

import { test } from "@jest/globals";
import { stateContract, type StateHarness } from "@evenkeel/state/contract";
import { eventually, findRedisServer, openedState, RedisServer, type OpenedState } from "../src/index.ts";

if (findRedisServer() === undefined) {
  test.skip("the contract on Redis: redis-server is not installed (Debian: redis-server)", () => undefined);
} else {
  stateContract("Redis", startRedis);
}

async function startRedis(): Promise<StateHarness> {
  const server = await RedisServer.start();
  const opened: OpenedState[] = [];
  const milliseconds = () =>
    server.ask(async (client) => {
      const [seconds, microseconds] = (await client.time()).map(Number);
      return (seconds ?? NaN) * 1000 + Math.floor((microseconds ?? NaN) / 1000);
    });
  return {
    open: async () => {
      // The deadline is not what the contract is about, and the machine may be busy.
      const handle = await openedState(server.address, { deadline: 10_000 });
      opened.push(handle);
      return handle.state;
    },
    elapse: async (span) => {
      const start = await milliseconds();
      await eventually("Redis's clock moves on", span + 5000, async () => (await milliseconds()) > start + span);
    },
    close: async () => {
      for (const { close } of opened) await close();
      await server.end();
    },
  };
}

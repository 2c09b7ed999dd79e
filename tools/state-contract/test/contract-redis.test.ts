import { stateContract, type StateHarness } from "@evenkeel/state/contract";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, openedState, RedisServer, type OpenedState } from "../src/index.ts";

describeRedis("the contract", () => stateContract("Redis", startRedis));

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
      await eventually(async () => (await milliseconds()) > start + span, span + 5000);
    },
    close: async () => {
      for (const { close } of opened) await close();
      await server.end();
    },
  };
}

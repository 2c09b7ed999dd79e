import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { WireFaults } from "./wire-faults.ts";
import { LoopbackServer } from "./loopback-server.ts";

describe("faults of a world", () => {
  let clock: FakeClock;
  let faults: WireFaults;
  let server: LoopbackServer;
  beforeEach(async () => {
    clock = new FakeClock();
    faults = new WireFaults(clock);
    server = await LoopbackServer.start(() => ({ code: 200, contentType: "text/plain", body: "fine" }), faults.hook);
  });
  afterEach(() => server.stop());

  const ask = async (path = "/", signal?: AbortSignal): Promise<number> =>
    (await fetch(`${server.url}${path}`, signal ? { signal } : {})).status;

  /** Resolves when the server has taken a request that waits for the clock. */
  const delayed = async (): Promise<void> => {
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  test.each([429, 500])("answer with %d until they are taken back", async (code) => {
    const takeBack = faults.add({ fault: { kind: "status", code } });
    expect([await ask(), await ask()]).toEqual([code, code]);
    takeBack();
    expect(await ask()).toBe(200);
  });

  test("are over by themselves after so many requests", async () => {
    faults.add({ fault: { kind: "status", code: 500 }, times: 2 });
    expect([await ask(), await ask(), await ask()]).toEqual([500, 500, 200]);
  });

  test("befall the requests that they are for", async () => {
    faults.add({ fault: { kind: "status", code: 500 }, when: ({ url }) => url === "/bad" });
    expect([await ask("/good"), await ask("/bad")]).toEqual([200, 500]);
    faults.clear();
    expect(await ask("/bad")).toBe(200);
  });

  test("delay an answer by the clock", async () => {
    faults.add({ fault: { kind: "latency", milliseconds: 1000 } });
    let answered = false;
    const answer = ask().then((status) => {
      answered = true;
      return status;
    });
    await delayed();
    await clock.advance(999);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect(await answer).toBe(200);
  });

  test("leave no timer behind when a caller does not wait for the delay", async () => {
    faults.add({ fault: { kind: "latency", milliseconds: 1000 } });
    const controller = new AbortController();
    const answer = ask("/", controller.signal);
    await delayed();
    controller.abort();
    await expect(answer).rejects.toThrow();
    while (clock.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test("reset the connection", async () => {
    faults.add({ fault: { kind: "reset" } });
    await expect(ask()).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
  });

  test("hang until the caller gives up or the world ends", async () => {
    const taken = new Promise<void>((resolve) => {
      faults.add({
        fault: { kind: "hang" },
        when: () => {
          resolve();
          return true;
        },
      });
    });
    const answer = ask();
    answer.catch(() => undefined);
    await taken;
    await server.stop();
    await expect(answer).rejects.toThrow();
    server = await LoopbackServer.start(() => ({ code: 200, contentType: "text/plain", body: "" }), faults.hook);
  });
});

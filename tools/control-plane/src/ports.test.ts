import { createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { chooseFreePorts, isFree, listeningRange, parseEphemeralRange } from "./ports.ts";

describe("the range of ports to listen on", () => {
  test.each([
    ["Linux' default", { first: 32_768, last: 60_999 }, { first: 20_000, last: 32_767 }],
    ["a range that begins low", { first: 1024, last: 60_999 }, { first: 61_000, last: 65_535 }],
    ["a range below the ports that are used", { first: 1024, last: 4999 }, { first: 20_000, last: 65_535 }],
    ["a range that leaves nothing", { first: 1024, last: 65_535 }, { first: 20_000, last: 65_535 }],
    ["an unknown range", undefined, { first: 20_000, last: 65_535 }],
  ])("keeps clear of %s", (_, ephemeral, expected) => {
    expect(listeningRange(ephemeral)).toEqual(expected);
  });

  test("is read from the kernel's two numbers", () => {
    expect(parseEphemeralRange("32768\t60999\n")).toEqual({ first: 32_768, last: 60_999 });
    expect(parseEphemeralRange("")).toBeUndefined();
    expect(parseEphemeralRange("x y")).toBeUndefined();
  });
});

describe("the choice of ports", () => {
  const range = { first: 100, last: 109 };

  test("skips those that are taken and gives none twice", async () => {
    const rolls = [0.0, 0.1, 0.1, 0.2, 0.9];
    const chosen = await chooseFreePorts(
      3,
      range,
      (port) => Promise.resolve(port !== 100),
      () => rolls.shift() ?? 0,
    );
    expect(chosen).toEqual([101, 102, 109]);
  });

  test("says what to do when too few are free", async () => {
    const choice = chooseFreePorts(2, range, (port) => Promise.resolve(port === 105));
    await expect(choice).rejects.toMatchObject({ code: "EK_CLUSTER_PORT_TAKEN" });
  });
});

test("a port with a listener is not free, and is free once it is closed", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  expect(await isFree(address.port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await isFree(address.port)).toBe(true);
});

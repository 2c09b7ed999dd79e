import { expect, test } from "@jest/globals";
import { BUSY, type Changes, quietService, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { TRANSITIONS } from "./transitions.ts";
import { obstacles } from "./obstacles.ts";

const messages = (changes: Changes) => obstacles(quietService(changes)).map(({ message }) => message);

test("what keeps a service awake is named in the order of the arrows", () => {
  const reasons = obstacles(
    quietService({
      targetFault: "Deployment shop/chekout not found",
      specFault: "The last good spec is in force",
      triggers: [SILENT, BUSY],
      idleSince: secondsAgo(10),
      withinPeriod: false,
      pods: null,
      activity: null,
    }),
  ).map(({ reason }) => reason);
  const arrows = TRANSITIONS.filter(({ from, action }) => from === "Serve" && action === "stay").map(
    ({ reason }) => reason,
  );
  expect(reasons).toEqual(arrows.filter((reason) => reason !== "NoResolver" && reason !== "NoTrigger"));
});

test("a cooldown says since when it counts and how much of it is left", () => {
  const policy = { cooldown: 300_000 };
  expect(messages({ policy, createdAt: secondsAgo(9000), idleSince: secondsAgo(259.5) })).toEqual([
    expect.stringMatching(/300 s .*2026-11-16T11:55:40Z .*41 s/),
  ]);
  expect(messages({ policy, createdAt: secondsAgo(1), idleSince: null })).toEqual([
    expect.stringMatching(/300 s .*2026-11-16T11:59:59Z .*299 s/),
  ]);
});

test("the cooldown doubles with each interruption after the first, up to ten minutes, and is never shortened", () => {
  const since = { createdAt: null, idleSince: secondsAgo(0) };
  const left = (interrupted: number, cooldown: number) =>
    Number(/ends in (\d+) s/.exec(messages({ ...since, interrupted, policy: { cooldown } })[0] ?? "")?.[1]);
  expect([0, 1, 2, 3, 4, 50].map((times) => left(times, 5000))).toEqual([5, 5, 10, 20, 40, 600]);
  expect([0, 1, 2, 50].map((times) => left(times, 900_000))).toEqual([900, 900, 900, 900]);
});

test("a family without a resolver is named with what helps", () => {
  const [message] = messages({ path: { unreached: ["IPv6"] } });
  expect(message).toMatch(/IPv6.*ipFamilyPolicy.*ipFamilies/);
});

test("where no resolver is ready, nothing more is said of families and ports", () => {
  expect(messages({ path: { resolvers: 0, unreached: ["IPv4"], unbound: 1 } })).toHaveLength(1);
});

test("ports that could not be opened are counted", () => {
  expect(messages({ path: { unbound: 1 } })).toEqual([expect.stringContaining("a port")]);
  expect(messages({ path: { unbound: 3 } })[0]).toContain("3 ports");
});

import { expect, test } from "@jest/globals";
import { BUSY, type Changes, quietService, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { ARROWS } from "./arrows.ts";
import { obstacles } from "./obstacles.ts";

const messages = (changes: Changes) => obstacles(quietService(changes)).map(({ message }) => message);

test("what keeps a service awake is named in the order of the arrows", () => {
  const reasons = obstacles(
    quietService({
      specFault: "The last good spec is in force",
      triggers: [SILENT, BUSY],
      idleSince: secondsAgo(10),
      withinPeriod: false,
      pods: null,
      activity: null,
    }),
  ).map(({ reason }) => reason);
  const arrows = ARROWS.filter(({ from, action }) => from === "Serve" && action === "stay").map(({ reason }) => reason);
  expect(reasons).toEqual(arrows.filter((reason) => reason !== "NoResolver" && reason !== "NoTrigger"));
});

test("a cooldown says since when it counts and how much of it is left", () => {
  const policy = { cooldown: 300_000 };
  expect(messages({ policy, createdAt: secondsAgo(9000), idleSince: secondsAgo(259.5) })).toEqual([
    "The cooldown of 300 s counts from 2026-11-16T11:55:40Z; 41 s are left",
  ]);
  expect(messages({ policy, createdAt: secondsAgo(1), idleSince: null })).toEqual([
    "The cooldown of 300 s counts from 2026-11-16T11:59:59Z; 299 s are left",
  ]);
});

import { expect, test } from "@jest/globals";
import { BUSY, type Changes, IDLE, NOON, quietService, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { idleSince, type Signs, trafficOf } from "./idle-since.ts";

const now = Date.parse(NOON);
const seen = (triggers: Signs["triggers"], lastRequestAt: number | null = null): Signs => ({
  triggers,
  activity: { lastRequestAt },
});
const known = { createdAt: secondsAgo(9000), since: secondsAgo(600), observedAt: secondsAgo(30) };

test("a service stays idle since when it was while every trigger says idle", () => {
  expect(idleSince(known, seen([IDLE, IDLE]), now)).toBe(secondsAgo(600));
});

test("traffic ends what was, whatever another trigger says", () => {
  expect(idleSince(known, seen([IDLE, BUSY]), now)).toBe(now);
  expect(idleSince(known, seen([SILENT, BUSY]), now)).toBe(now);
});

test("the time since the last look does not count where a trigger says nothing", () => {
  expect(idleSince(known, seen([IDLE, SILENT]), now)).toBe(secondsAgo(570));
});

test("silence moves the beginning of a service too that never had traffic", () => {
  expect(idleSince({ ...known, since: null }, seen([SILENT]), now)).toBe(secondsAgo(8970));
});

test("the first observation of a leader uses the recorded time, although a trigger is unknown", () => {
  expect(idleSince({ ...known, observedAt: null }, seen([SILENT]), now)).toBe(secondsAgo(600));
});

test("a clock that was set back does not make a service idle for longer", () => {
  expect(idleSince({ ...known, observedAt: secondsAgo(-90) }, seen([SILENT]), now)).toBe(secondsAgo(600));
});

test("triggers that are not asked change nothing", () => {
  expect(idleSince(known, seen([]), now)).toBe(secondsAgo(600));
  expect(idleSince({ ...known, since: null }, seen([]), now)).toBeNull();
});

test("a request that the resolver saw counts though no trigger reports it", () => {
  expect(idleSince(known, seen([IDLE], secondsAgo(3)), now)).toBe(secondsAgo(3));
  expect(idleSince({ ...known, since: null }, seen([IDLE], secondsAgo(3)), now)).toBe(secondsAgo(3));
  expect(idleSince(known, seen([IDLE], secondsAgo(700)), now)).toBe(secondsAgo(600));
  expect(idleSince(known, { triggers: [IDLE], activity: null }, now)).toBe(secondsAgo(600));
});

test("a request with the time of a clock that is ahead counts as now", () => {
  expect(idleSince(known, seen([IDLE], secondsAgo(-20)), now)).toBe(now);
});

const guard = (purpose: "sleep" | "safety"): Changes => ({ stage: { state: "Guard", purpose, since: secondsAgo(60) } });

test.each<[string, Changes, number, boolean]>([
  ["counts in a Guard before sleep, also if pods are ready", guard("sleep"), 30, true],
  ["that came before that Guard does not count: nodes sent it to pods", guard("sleep"), 90, false],
  ["that came before a Guard for safety counts: no pod was ready", guard("safety"), 90, true],
  ["does not count in Serve while a pod is ready", { stage: { state: "Serve" } }, 30, false],
  ["counts in Serve until nodes have followed", { stage: { state: "Serve" } }, 58, true],
  ["counts in Serve while no pod is ready", { stage: { state: "Serve" }, pods: { ready: 0 } }, 30, true],
  ["counts in Serve while the pods are not known", { stage: { state: "Serve" }, pods: null }, 30, true],
  ["counts in Wake, also if it came before", { stage: { state: "Wake", since: secondsAgo(60) } }, 90, true],
])("a request at the resolver %s", (_name, changes, seconds, counts) => {
  const activity = { pending: 0, inFlight: 0, requests: 1, lastRequestAt: secondsAgo(seconds) };
  expect(trafficOf(quietService({ ...changes, activity }))).toEqual(counts ? activity : null);
});

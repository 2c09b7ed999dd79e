import { expect, test } from "@jest/globals";
import { BUSY, IDLE, NOON, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { idleSince } from "./idle-since.ts";

const now = Date.parse(NOON);
const known = { createdAt: secondsAgo(9000), since: secondsAgo(600), lookedAt: secondsAgo(30) };

test("a service stays idle since when it was while every trigger says idle", () => {
  expect(idleSince(known, [IDLE, IDLE], now)).toBe(secondsAgo(600));
});

test("traffic ends what was, whatever another trigger says", () => {
  expect(idleSince(known, [IDLE, BUSY], now)).toBe(now);
  expect(idleSince(known, [SILENT, BUSY], now)).toBe(now);
});

test("the time since the last look does not count where a trigger says nothing", () => {
  expect(idleSince(known, [IDLE, SILENT], now)).toBe(secondsAgo(570));
});

test("silence moves the beginning of a service too that never had traffic", () => {
  expect(idleSince({ ...known, since: null }, [SILENT], now)).toBe(secondsAgo(8970));
});

test("the first look of a leader takes what is on record, though a trigger says nothing", () => {
  expect(idleSince({ ...known, lookedAt: null }, [SILENT], now)).toBe(secondsAgo(600));
});

test("a clock that was set back does not make a service idle for longer", () => {
  expect(idleSince({ ...known, lookedAt: secondsAgo(-90) }, [SILENT], now)).toBe(secondsAgo(600));
});

test("triggers that are not asked change nothing", () => {
  expect(idleSince(known, [], now)).toBe(secondsAgo(600));
  expect(idleSince({ ...known, since: null }, [], now)).toBeNull();
});

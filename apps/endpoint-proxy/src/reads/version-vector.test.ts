import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeVersions, encodeVersions } from "./version-vector.ts";

const layout = { epoch: 1, slots: ["a", "b", "c"] };
const versions = new Map([
  ["a", "17"],
  ["c", "18446744073709551615"],
]);

test("versions survive the way through one decimal number; a member without the object has none", () => {
  const text = encodeVersions(layout, versions);
  expect(text).toMatch(/^1\d{64}$/);
  expect(decodeVersions(text, layout)).toEqual({ kind: "vector", versions });
});

test("a member that joins later does not make older versions unreadable, and newer ones are greater", () => {
  const text = encodeVersions(layout, versions);
  const wider = { epoch: 1, slots: [...layout.slots, "d"] };
  expect(decodeVersions(text, wider)).toEqual({ kind: "vector", versions });
  expect(BigInt(encodeVersions(wider, versions)) > BigInt(text)).toBe(true);
});

test("a plain version is the own cluster's; another epoch, or more slots, is out of date", () => {
  expect(decodeVersions("17", layout)).toEqual({ kind: "own", version: "17" });
  const text = encodeVersions(layout, versions);
  expect(decodeVersions(text, { epoch: 2, slots: layout.slots })).toEqual({
    kind: "stale",
  });
  expect(decodeVersions(text, { epoch: 1, slots: ["a"] })).toEqual({
    kind: "stale",
  });
  expect(decodeVersions(text, undefined)).toEqual({ kind: "stale" });
  expect(decodeVersions(`${text}1`, layout)).toEqual({ kind: "stale" });
});

test("a version that is no number of a server does not move the places of the others", () => {
  for (const odd of ["x", "9".repeat(21), "-1", "", "1.5"]) {
    const text = encodeVersions(layout, new Map(layout.slots.map((name, index) => [name, index === 0 ? odd : "7"])));
    expect(decodeVersions(text, layout)).toEqual({
      kind: "vector",
      versions: new Map(layout.slots.slice(1).map((name) => [name, "7"])),
    });
  }
});

test("it grows when any member's version grows", () => {
  const three = fc.tuple(fc.bigInt(1n, 2n ** 64n - 1n), fc.bigInt(1n, 2n ** 64n - 1n), fc.bigInt(1n, 2n ** 64n - 1n));
  const text = (all: readonly bigint[]) =>
    BigInt(encodeVersions(layout, new Map(layout.slots.map((name, index) => [name, String(all[index])]))));
  fc.assert(
    fc.property(three, fc.nat(2), fc.bigInt(1n, 1000n), (all, index, more) => {
      const grown = all.map((one, place) => (place === index ? one + more : one));
      if (grown.some((one) => one >= 2n ** 64n)) return;
      expect(text(grown) > text(all)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Keys } from "./keys.ts";

/**
 * CRC16 as Redis Cluster computes it (XMODEM):
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#appendix-a
 */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff) >>> 0;
  }
  return crc;
}

/** What lies between the first brace and the next closing one decides, if it is not empty. */
function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  const hashed = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  return crc16(Buffer.from(hashed)) % 16_384;
}

const name = fc.stringMatching(/^[A-Za-z0-9._:/@-]{1,40}$/);

describe("keys", () => {
  test("the slot computation agrees with Redis's own example", () => {
    expect(crc16(Buffer.from("123456789"))).toBe(0x31c3);
  });

  test("an object's keys look as documented", () => {
    const keys = new Keys("scale-resolver");
    expect([
      keys.records("0b1c"),
      keys.fences("0b1c"),
      keys.counts("0b1c"),
      keys.streams("0b1c"),
      keys.stream("0b1c", "log"),
      keys.edge("0b1c", "wake"),
    ]).toEqual([
      "evenkeel:scale-resolver:{0b1c}:records",
      "evenkeel:scale-resolver:{0b1c}:fences",
      "evenkeel:scale-resolver:{0b1c}:counts",
      "evenkeel:scale-resolver:{0b1c}:streams",
      "evenkeel:scale-resolver:{0b1c}:stream:log",
      "evenkeel:scale-resolver:{0b1c}:edge:wake",
    ]);
  });

  test("all keys of an object are on the slot of its uid, whatever the names", () => {
    fc.assert(
      fc.property(name, name, name, (service, object, part) => {
        const keys = new Keys(service);
        const all = [
          keys.records(object),
          keys.fences(object),
          keys.counts(object),
          keys.streams(object),
          keys.stream(object, part),
          keys.edge(object, part),
        ];
        expect(new Set(all.map(slotOf))).toEqual(new Set([crc16(Buffer.from(object)) % 16_384]));
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });

  test.each(["a{b", "a}b", "{}", "", "a b", "a*"])(
    "%j can name nothing, since it could move a key to another slot",
    (bad) => {
      const keys = new Keys("service");
      for (const make of [
        () => new Keys(bad),
        () => keys.records(bad),
        () => keys.stream("object", bad),
        () => keys.edge("object", bad),
      ]) {
        expect(make).toThrow(expect.objectContaining({ code: "EK_STATE_BAD_ARGUMENT" }));
      }
    },
  );
});

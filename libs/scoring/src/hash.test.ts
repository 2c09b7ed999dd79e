import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { finish, type Hash, hashBytes, hashText } from "./hash.ts";

const hex = ({ high, low }: Hash) => [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");

describe("the hash", () => {
  test.each([
    ["Hello, world!", 123, "61c9129e5a1aacd7"],
    ["Hello, world!", 321, "d5fbdcb3c26c4193"],
    ["xxxxxxxxxxxxxxxxxxxxxxxxxxxx", 123, "5e40bab278825a16"],
    ["I will not buy this tobacconist's, it is scratched.", 0, "9b5b7ba2ef3f7866"],
    ["", 0, "0000000000000000"],
  ])("of %p with seed %p is the first half of MurmurHash3_x86_128", (text, seed, expected) => {
    expect(hex(hashText(text, seed))).toBe(expected);
  });

  test("of the bytes 0 to 255 is that of the reference", () => {
    expect(hex(hashBytes(Uint8Array.from({ length: 256 }, (_, index) => index)))).toBe("2c56c88fdb4503df");
  });

  test("reads text as UTF-8", () => {
    expect(hashText("µ→🙂")).toEqual(hashBytes(Uint8Array.of(0xc2, 0xb5, 0xe2, 0x86, 0x92, 0xf0, 0x9f, 0x99, 0x82)));
  });

  test("stays the same for ever", () => {
    expect(["a", "collector-0", "10.0.0.1:9090", "ü"].map((text) => hex(hashText(text, 7)))).toMatchInlineSnapshot(`
      [
        "4572ec74984fd670",
        "aa379887701927a0",
        "83abe8392fa1bfd7",
        "e340c0fd1859247e",
      ]
    `);
  });

  test("takes its seed modulo 2^32", () => {
    expect(hashText("a", 2 ** 32 + 5)).toEqual(hashText("a", 5));
  });

  test("does not collide on 100,000 similar texts", () => {
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index += 1) seen.add(hex(hashText(`target-${index}`)));
    expect(seen.size).toBe(100_000);
  });

  test("flips half of its bits when one bit of the input flips", () => {
    let [flipped, compared] = [0, 0];
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 8, maxLength: 40 }), fc.nat(), (bytes, bit) => {
        const other = Uint8Array.from(bytes);
        const index = (bit >>> 3) % bytes.length;
        other[index] = (other[index] ?? 0) ^ (1 << (bit & 7));
        const [a, b] = [hashBytes(bytes), hashBytes(other)];
        flipped += ones(a.high ^ b.high) + ones(a.low ^ b.low);
        compared += 64;
        expect(a).not.toEqual(b);
      }),
      { numRuns: 2_000, seed: 1 },
    );
    expect(flipped / compared).toBeGreaterThan(0.49);
    expect(flipped / compared).toBeLessThan(0.51);
  });

  test("finishes words one to one", () => {
    const finished = new Set<number>();
    for (let word = 0; word < 100_000; word += 1) finished.add(finish(word * 65_537));
    expect(finished.size).toBe(100_000);
  });
});

function ones(word: number): number {
  return (word >>> 0).toString(2).replaceAll("0", "").length;
}

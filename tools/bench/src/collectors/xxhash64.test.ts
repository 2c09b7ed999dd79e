import { expect, test } from "@jest/globals";
import { xxhash64 } from "./xxhash64.ts";

test.each([
  ["", 0xef46db3751d8e999n],
  ["a", 0xd24ec4f1a98c6e5bn],
  ["abc", 0x44bc2cf5ad770999n],
  ["Nobody inspects the spammish repetition", 0xfbcea83c8a378bf1n],
])("the hash of %j is that of the specification's implementation", (text, hash) => {
  expect(xxhash64(Buffer.from(text))).toBe(hash);
});

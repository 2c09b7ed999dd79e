import { expect, test } from "@jest/globals";
import { masked } from "./masked.ts";

test.each([
  ["a secret", "the token abcd is old", ["abcd"], "the token [masked] is old"],
  ["each of several", "abcd and efgh and abcd", ["abcd", "efgh"], "[masked] and [masked] and [masked]"],
  ["the whole where one begins another", "abcdef", ["abcd", "abcdef"], "[masked]"],
  ["nothing that occurs by chance", "a is 1", ["a", "1", ""], "a is 1"],
  ["a secret with signs of a pattern", "a $& b.*c", ["b.*c", "$& b"], "a $& [masked]"],
])("masks %s", (_name, text, secrets, shown) => {
  expect(masked(text, secrets)).toBe(shown);
});

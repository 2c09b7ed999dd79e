import { describe, expect, test } from "@jest/globals";
import { heldBytes } from "./held-bytes.ts";

const HOST = "a.test";

describe("the bytes of a held request", () => {
  test.each([
    ["are those of its head without a body", "/12345", false, ["name", "value"], 6 + 6 + 9],
    ["include a body that fits the stream's buffer", "/", true, ["content-length", "1000"], 1 + 6 + 18 + 1000],
    [
      "include no more of a body than the stream buffers",
      "/",
      true,
      ["content-length", "9000000"],
      1 + 6 + 21 + 65_536,
    ],
    ["include a whole buffer if the length of the body is unknown", "/", true, [], 1 + 6 + 65_536],
  ])("%s", (_name, path, hasBody, headers, bytes) => {
    const header = (name: string) => (headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined);
    expect(heldBytes({ path, host: HOST, hasBody, headers, header })).toBe(bytes);
  });
});

import { expect, test } from "@jest/globals";
import { chooseEncoding } from "./encoding.ts";

const all = { br: Buffer.from(""), gzip: Buffer.from("") };

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["GZIP", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["br;q=0.0, *", "gzip"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["deflate", "identity"],
])("for a reader that accepts %s takes %s", (header, encoding) => {
  expect(chooseEncoding(header, all)).toBe(encoding);
});

test("takes none that was not built", () => {
  expect(chooseEncoding("br, gzip", {})).toBe("identity");
  expect(chooseEncoding("br, gzip", { gzip: all.gzip })).toBe("gzip");
});

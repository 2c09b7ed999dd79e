import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { lowerCase, upperCase } from "./letter-case.ts";

test.each([
  ["Straße", "STRAßE", "straße"],
  ["İı", "İI", "iı"],
  ["ΑΣ", "ΑΣ", "ας".replace("ς", "σ")],
  ["ᾳ ᾼ", "ᾼ ᾼ", "ᾳ ᾳ"],
  ["ﬁ ŉ", "ﬁ ŉ", "ﬁ ŉ"],
  ["ǆ", "Ǆ", "ǆ"],
  ["𐐨𐐀", "𐐀𐐀", "𐐨𐐨"],
  ["aZ-1", "AZ-1", "az-1"],
])("maps each code point of %s to exactly one", (text, upper, lower) => {
  expect([upperCase(text), lowerCase(text)]).toEqual([upper, lower]);
});

test("maps every code point as Go 1.26 does", () => {
  const digest = createHash("sha256");
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const letter = String.fromCodePoint(point);
    digest.update(upperCase(letter)).update(lowerCase(letter));
  }
  expect(digest.digest("hex")).toBe("9247984f19a9d6aed30e215ba09f7b40b05f6bacc1a7b0ca66fa6758bc0c09a4");
});

import { describe, expect, test } from "@jest/globals";
import { canonicalName, displayName, listPosition, zoneId } from "./record-name.ts";

describe("names in Route 53", () => {
  test.each(["hostedzone/Z1", "/hostedzone/Z1", "Z1"])("%s is the zone Z1", (text) => {
    expect(zoneId(text)).toBe("Z1");
  });

  test.each([
    ["www.example.com", "www.example.com."],
    ["WWW.Example.com.", "www.example.com."],
    ["*.example.com", "\\052.example.com."],
    ["\\052.example.com.", "\\052.example.com."],
    ["_dmarc.a-b.example.com", "_dmarc.a-b.example.com."],
    ["a\\056b.example.com", "a\\056b.example.com."],
    ["a/b.example.com", "a\\057b.example.com."],
  ])("%s is %s in lists", (name, canonical) => {
    expect(canonicalName(name)).toBe(canonical);
    expect(canonicalName(canonical)).toBe(canonical);
  });

  test("are shown as people write them", () => {
    expect(displayName("\\052.Example.com.")).toBe("*.example.com");
  });

  test("stand in lists by their labels from the last to the first, a dot after a hyphen", () => {
    const names = ["z.example.com.", "example.com.", "a.b.example.com.", "b-a.example.com.", "b.example.com."];
    expect(names.sort((a, b) => (listPosition(a) < listPosition(b) ? -1 : 1))).toEqual([
      "example.com.",
      "b-a.example.com.",
      "b.example.com.",
      "a.b.example.com.",
      "z.example.com.",
    ]);
  });
});

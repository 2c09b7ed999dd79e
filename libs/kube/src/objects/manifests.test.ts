import { expect, test } from "@jest/globals";
import { parseManifests } from "./manifests.ts";

test("reads every object of YAML and of JSON", () => {
  expect(parseManifests("a: 1\n---\n---\nb: [x]\n")).toEqual([{ a: 1 }, { b: ["x"] }]);
  expect(parseManifests('{"a": 1}')).toEqual([{ a: 1 }]);
  expect(parseManifests("")).toEqual([]);
});

test("names the place of what is not YAML", () => {
  expect(() => parseManifests("a: 1\nb: [x\n")).toThrow(/line 3/);
});

import { describe, expect, test } from "@jest/globals";
import { ApiFault } from "../status.ts";
import { parseLabelSelector, selectorText } from "./label-selector.ts";

describe("a label selector in a query", () => {
  const labels = { app: "web", tier: "front", "example.com/role": "" };

  test.each([
    ["", true],
    ["app", true],
    ["!app", false],
    ["!missing", true],
    ["app=web", true],
    ["app==web", true],
    ["app = web", true],
    ["app!=web", false],
    ["missing!=web", true],
    ["app in (api, web)", true],
    ["app notin (api, web)", false],
    ["missing notin (a)", true],
    ["example.com/role=", true],
    ["app=web,tier in (front,back),!missing", true],
    ["app=web,tier=back", false],
  ])("%s chooses an object: %s", (text, chosen) => {
    expect(parseLabelSelector(text)(labels)).toBe(chosen);
  });

  test.each(["a in b)", "a in ()b", "=a", "a=b=c", "a b", "a,,b", "-a", "a in (b"])("%s is none", (text) => {
    expect(() => parseLabelSelector(text)).toThrow(ApiFault);
  });
});

test("a label selector is one line in a scale", () => {
  const matchExpressions = [{ key: "tier", operator: "In", values: ["b", "a"] }];
  expect(selectorText({ matchLabels: { app: "web" }, matchExpressions })).toBe("app=web,tier in (a,b)");
});

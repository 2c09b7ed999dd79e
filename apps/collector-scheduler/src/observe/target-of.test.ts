import { expect, test } from "@jest/globals";
import { targetOf } from "./target-of.ts";

function keyOf(...parameters: readonly (readonly [name: string, value: string])[]): string {
  const labels = new Map([
    ...parameters.map(([name, value]) => [`__param_${name}`, value] as const),
    ...([
      ["__scheme__", "http"],
      ["__address__", "a:80"],
      ["__metrics_path__", "/metrics"],
    ] as const),
  ]);
  return targetOf("prometheus/app", labels, { group: new Map(), target: new Map() }, () => undefined).key;
}

test("a key names job and URL, and tells parameters apart without their values, which may be tokens", () => {
  expect(keyOf()).toBe("prometheus/app http://a:80/metrics");
  const key = keyOf(["token", "hunter2"], ["x", "1"]);
  expect(key).toMatch(/^prometheus\/app http:\/\/a:80\/metrics \S+$/);
  expect(key).not.toContain("hunter2");
  expect(keyOf(["x", "1"], ["token", "hunter2"])).toBe(key);
  expect(keyOf(["x", "1"], ["token", "hunter3"])).not.toBe(key);
  expect(keyOf(["token", "hunter2 x=1"])).not.toBe(key);
});

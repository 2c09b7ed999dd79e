import { describe, expect, test } from "@jest/globals";
import { kedaVersion, PROGRAMS, readPins, versionKey } from "./pins.ts";

describe("the version key", () => {
  const pins = { goMod: "require github.com/kedacore/keda/v2 v2.21.0", goSum: "h1:a" };
  const key = versionKey(pins, "linux-x64");

  test("begins with the version of KEDA and is fit for a folder's name", () => {
    expect(key).toMatch(/^v2\.21\.0-[0-9a-f]{12}$/);
  });

  test("changes with the module, its checksums and the platform", () => {
    expect(versionKey({ ...pins, goMod: `${pins.goMod}\n// x` }, "linux-x64")).not.toBe(key);
    expect(versionKey({ ...pins, goSum: "h1:b" }, "linux-x64")).not.toBe(key);
    expect(versionKey(pins, "linux-arm64")).not.toBe(key);
  });
});

test("the Go module pins KEDA 2.21, with its programs as tools", () => {
  const pins = readPins();
  expect(kedaVersion(pins)).toBe("v2.21.0");
  for (const path of Object.values(PROGRAMS)) expect(pins.goMod).toContain(`\t${path}\n`);
  expect(pins.goSum).toContain("github.com/kedacore/keda/v2 v2.21.0 h1:");
});

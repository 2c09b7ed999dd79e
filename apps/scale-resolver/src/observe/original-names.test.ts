import { describe, expect, test } from "@jest/globals";
import { isOriginalPrivateService, originalPrivateServiceName, originalSliceName } from "./original-names.ts";

const A41 = "a".repeat(41);

describe("what KubeElasti names its private copy of a Service", () => {
  test.each<[string, string, string]>([
    ["the whole name is in it", "web", "elasti-web-pvt-4b5e57f6eb"],
    ["41 letters fit", A41, `elasti-${A41}-pvt-c0f8bd4dbc`],
    ["of 42 the last is cut off", `${A41}a`, `elasti-${A41}-pvt-7a538607fd`],
    ["of the longest name 22 are", "a".repeat(63), `elasti-${A41}-pvt-7d3e74a05d`],
    [
      "no hyphen is left where it was cut",
      "reports-of-the-quarterly-figures-for-all--regions-and-teams",
      "elasti-reports-of-the-quarterly-figures-for-all-pvt-4bd2a315d2",
    ],
  ])("%s", (_, service, copy) => {
    expect(originalPrivateServiceName(service)).toBe(copy);
    expect(copy.length).toBeLessThanOrEqual(63);
  });

  test("is known for one by itself where the whole name is in it", () => {
    expect(isOriginalPrivateService(originalPrivateServiceName("web"))).toBe(true);
    expect(isOriginalPrivateService(originalPrivateServiceName(A41))).toBe(true);
    expect(isOriginalPrivateService("elasti-web-pvt-0123456789")).toBe(false);
    expect(isOriginalPrivateService("web")).toBe(false);
  });
});

test("KubeElasti's EndpointSlice has the whole name of the longest Service in it", () => {
  const longest = "a".repeat(63);
  expect(originalSliceName("web")).toBe("elasti-web-endpointslice-to-resolver-4b5e57f6eb");
  expect(originalSliceName(longest)).toBe(`elasti-${longest}-endpointslice-to-resolver-7d3e74a05d`);
});

import { expect, test } from "@jest/globals";
import { isAtLeast, parseGoVersion, requiredGoVersion } from "./go-toolchain.ts";

test.each([
  ["1.26.0", "1.26.0", true],
  ["1.26.8", "1.26.0", true],
  ["1.26", "1.26.0", true],
  ["1.27", "1.26.9", true],
  ["2.0", "1.26.0", true],
  ["1.9.9", "1.26.0", false],
  ["1.25.12", "1.26.0", false],
  ["1.26", "1.26.1", false],
])("Go %s where %s is required is good enough: %s", (actual, required, enough) => {
  expect(isAtLeast(actual, required)).toBe(enough);
});

test.each([
  ["go version go1.26.8 linux/amd64", "1.26.8"],
  ["go version go1.27rc1 linux/amd64", "1.27"],
  ["go version devel +abc linux/amd64", undefined],
])("%s means version %s", (output, version) => {
  expect(parseGoVersion(output)).toBe(version);
});

test("the required version is the go line, not a version that only looks like one", () => {
  expect(requiredGoVersion("module x/go 1\n\ngo 1.26.0\n\nrequire golang.org/x/go 1.2\n")).toBe("1.26.0");
});

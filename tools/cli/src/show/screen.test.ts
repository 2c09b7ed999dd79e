import { expect, test } from "@jest/globals";
import { TestHost } from "../testing/test-host.ts";
import { Screen } from "./screen.ts";

test.each([
  ["a terminal has colours and an end", { columns: 80 }, { colour: true, width: 80 }],
  ["NO_COLOR takes the colours", { columns: 80, env: { NO_COLOR: "1" } }, { colour: false, width: 80 }],
  ["an empty NO_COLOR counts as none", { columns: 80, env: { NO_COLOR: "" } }, { colour: true, width: 80 }],
  ["a dumb terminal has none", { columns: 80, env: { TERM: "dumb" } }, { colour: false, width: 80 }],
  ["a pipe has neither", {}, { colour: false, width: undefined }],
])("%s", (_name, { columns, env = {} }: { columns?: number; env?: Record<string, string> }, paper) => {
  expect(new Screen(new TestHost([], env, columns).host, "test").paper).toEqual(paper);
});

test("a note is one line beside the answer, with the program's name", () => {
  const host = new TestHost();
  new Screen(host.host, "test").note("first\nsecond\u001b[31m");
  expect(host.err).toBe("test: first second [31m\n");
  expect(host.out).toBe("");
});

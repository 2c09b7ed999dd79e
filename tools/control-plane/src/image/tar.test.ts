import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { tarOf } from "./tar.ts";

/** What the machine's own tar finds in an archive. */
const listed = (archive: Buffer): string[] =>
  execFileSync("tar", ["--list", "--verbose", "--numeric-owner", "--full-time", "--utc", "-f", "-"], {
    input: archive,
    encoding: "utf8",
  })
    .trim()
    .split("\n")
    .map((line) => line.replaceAll(/\s+/g, " "));

test("tar reads modes, sizes and the folders above each file", () => {
  const archive = tarOf([
    { path: "tmp", mode: 0o1777 },
    { path: "usr/bin/node", mode: 0o755, content: Buffer.alloc(513, "x") },
    { path: "empty", content: "" },
  ]);
  expect(listed(archive)).toEqual([
    "-rw-r--r-- 0/0 0 1970-01-01 00:00:00 empty",
    "drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/",
    "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/",
    "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/bin/",
    "-rwxr-xr-x 0/0 513 1970-01-01 00:00:00 usr/bin/node",
  ]);
});

test("tar gives the content back", () => {
  const archive = tarOf([
    { path: "a/b", content: "first\n" },
    { path: "c", content: "second\n" },
  ]);
  const read = (path: string): string =>
    execFileSync("tar", ["--extract", "--to-stdout", "-f", "-", path], { input: archive, encoding: "utf8" });
  expect([read("a/b"), read("c")]).toEqual(["first\n", "second\n"]);
});

test("a path of more than 100 bytes is split, and one that cannot be is refused", () => {
  const path = `${"folder/".repeat(20)}file`;
  expect(listed(tarOf([{ path, content: "" }])).at(-1)).toContain(path);
  expect(() => tarOf([{ path: "x".repeat(101), content: "" }])).toThrow("too long");
});

test("the same entries give the same bytes", () => {
  const entries = [
    { path: "a", content: "1" },
    { path: "b/c", content: "2" },
  ];
  expect(tarOf([...entries].reverse())).toEqual(tarOf(entries));
});

import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { CollectedGroups } from "../../../test/collected-groups.ts";
import { blocksOf } from "../../../test/discovery-world.ts";
import type { FileBlock } from "./discovery-block.ts";
import { FileDiscovery } from "./file-discovery.ts";
import { fileNamePattern } from "./file-name-pattern.ts";

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "file-sd-"));
  folder = join(root, "allowed");
  await mkdir(folder);
});
afterEach(() => rm(root, { recursive: true }));

function discover(...files: readonly string[]) {
  const sink = new CollectedGroups();
  const [block] = blocksOf({ file_sd_configs: [{ files }] }, folder);
  const discovery = new FileDiscovery(block as FileBlock, sink, { clock: systemClock, files: folder });
  return { sink, [Symbol.dispose]: () => discovery.stop() };
}

const put = (name: string, text: string) => writeFile(join(folder, name), text);
const json = (...targets: readonly string[]) => JSON.stringify([{ targets, labels: { team: "shop" } }]);

describe("file_sd", () => {
  test("reads JSON and YAML, with the path as a label", async () => {
    await put("a.json", json("a:80", "b:80"));
    await put("b.yml", "- targets: [c:80]\n  labels: {port: 8080, on: true}\n- targets: ['d:80']\n");
    using discovered = discover("a.json", "*.yml");
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    const path = join(folder, "b.yml");
    expect(discovered.sink.addresses).toEqual(["a:80", "b:80", "c:80", "d:80"]);
    expect([...discovered.sink.groups.keys()]).toEqual([`${join(folder, "a.json")}:0`, `${path}:0`, `${path}:1`]);
    expect(Object.fromEntries(discovered.sink.groups.get(`${path}:0`)?.labels ?? [])).toEqual({
      __meta_filepath: path,
      port: "8080",
      on: "true",
    });
  });

  test("keeps every part of a large group while its file cannot be read", async () => {
    await put("a.json", json(...Array.from({ length: 1001 }, (_, index) => `a:${index}`)));
    using discovered = discover("a.json");
    await eventually(() => expect(discovered.sink.addresses).toHaveLength(1001));
    await put("a.json", "{");
    await eventually(() => expect(discovered.sink.last?.fault).toContain("a.json"));
    expect(discovered.sink.addresses).toHaveLength(1001);
  });

  test("follows files that change, come, shrink and go", async () => {
    await put("a.json", JSON.stringify([{ targets: ["a:80"] }, { targets: ["b:80"] }]));
    using discovered = discover("*.json");
    const { sink } = discovered;
    await eventually(() => expect(sink.addresses).toEqual(["a:80", "b:80"]));
    await put("a.json", json("a:81"));
    await eventually(() => expect(sink.addresses).toEqual(["a:81"]));
    await put("new.tmp", json("c:80"));
    await rename(join(folder, "new.tmp"), join(folder, "c.json"));
    await eventually(() => expect(sink.addresses).toEqual(["a:81", "c:80"]));
    await rm(join(folder, "a.json"));
    await eventually(() => expect(sink.addresses).toEqual(["c:80"]));
  });

  test("follows a ConfigMap as Kubernetes mounts it: a link to a folder that is replaced", async () => {
    await mkdir(join(folder, "..1"));
    await put("..1/a.json", json("a:80"));
    await symlink("..1", join(folder, "..data"));
    await symlink("..data/a.json", join(folder, "a.json"));
    using discovered = discover("a.json");
    await eventually(() => expect(discovered.sink.addresses).toEqual(["a:80"]));
    await mkdir(join(folder, "..2"));
    await put("..2/a.json", json("b:80"));
    await symlink("..2", join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
    await eventually(() => expect(discovered.sink.addresses).toEqual(["b:80"]));
  });

  test.each([
    ["garbage", () => put("a.json", "{ not json")],
    ["a group that is null", () => put("a.json", "[null]")],
    ["an unknown field", () => put("a.json", '[{"targets":["b:80"],"lables":{}}]')],
    ["a number for a target", () => put("a.json", '[{"targets":[80]}]')],
    ["a gigabyte", () => truncate(join(folder, "a.json"), 2 ** 30)],
    [
      "a link to outside",
      async () => {
        await writeFile(join(root, "token.json"), json("stolen:80"));
        await symlink(join(root, "token.json"), join(folder, "link"));
        await rename(join(folder, "link"), join(folder, "a.json"));
      },
    ],
  ])("keeps the last good content of a file with %s, and follows the others", async (_what, harm) => {
    await put("a.json", json("a:80"));
    await put("b.json", json("b:80"));
    using discovered = discover("*.json");
    const { sink } = discovered;
    await eventually(() => expect(sink.addresses).toEqual(["a:80", "b:80"]));
    await harm();
    await eventually(() => expect(sink.last?.fault).toContain("a.json"));
    await put("b.json", json("b:81"));
    await eventually(() => expect(sink.addresses).toEqual(["a:80", "b:81"]));
    expect(sink.last).toMatchObject({ answered: true });
  });

  test("answers with no targets while no file is there", async () => {
    using discovered = discover("none.json", "none/*.yaml");
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    expect(discovered.sink.addresses).toEqual([]);
  });
});

describe("a pattern of file names", () => {
  test.each([
    ["*.json", "a.json", true],
    ["*.json", ".json", true],
    ["*.json", "a.jsonx", false],
    ["a?.yml", "ab.yml", true],
    ["a?.yml", "a.yml", false],
    ["[a-c]*.yml", "b1.yml", true],
    ["[^a-c]*.yml", "b1.yml", false],
    [String.raw`\*.yml`, "*.yml", true],
    [String.raw`\*.yml`, "a.yml", false],
    ["a+(b).yml", "a+(b).yml", true],
    ["[z-a].yml", "b.yml", false],
    ["[.yml", "[.yml", false],
    ["*a*b*", "xxaxxbxx", true],
    ["*ab", "aab", true],
    ["a**", "a", true],
    [`${"*a".repeat(40)}b`, "a".repeat(200), false],
  ])("%s against %s: %s", (pattern, name, matches) => {
    expect(fileNamePattern(pattern)(name)).toBe(matches);
  });
});

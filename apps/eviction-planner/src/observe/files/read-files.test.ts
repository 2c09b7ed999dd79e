import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { plan } from "../../decide/plan.ts";
import { BadFile } from "../../errors.ts";
import { fixtureCluster } from "../../testing/fixture-cluster.ts";
import { fixtureSnapshot } from "../../testing/fixture-snapshot.ts";
import { withHashedNames } from "./hashed-names.ts";
import { readFiles } from "./read-files.ts";
import { snapshotText } from "./saved-snapshot.ts";

let folder: string;
const { objects, metrics } = fixtureCluster();
const list = (items: readonly object[], kind = "List") =>
  JSON.stringify({ apiVersion: "v1", items, kind }, undefined, 4);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "read-files-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, contents: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
}

const read = (files: readonly string[], input = "") =>
  readFiles(files, { stdin: () => Readable.from([input]), signal: new AbortController().signal });

async function countsOf(files: readonly string[], input = "") {
  const contents = await read(files, input);
  if (contents.kind !== "objects") throw new Error("it is a snapshot");
  const { collected } = contents;
  const { nodes, pods } = collected.usage;
  return [collected.count("nodes"), collected.count("pods"), nodes.size, pods.size];
}

describe("files", () => {
  test("are read one after another, compressed or not, and from standard input", async () => {
    const raw = metrics.map((object) => ({ ...object, kind: undefined, apiVersion: undefined }));
    const rawList = (kind: string, items: readonly object[]) =>
      JSON.stringify({ kind, apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items });
    const cluster = file("cluster.json.gz", gzipSync(list(objects)));
    const pods = file("pods.json", rawList("PodMetricsList", raw.slice(6)));
    expect(await countsOf([cluster, pods, "-"], rawList("NodeMetricsList", raw.slice(0, 6)))).toEqual([6, 22, 6, 22]);
  });

  test("may contain the same object twice, and objects that no plan needs", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { password: "x" } };
    const cluster = file("twice.json", `${list([...objects, secret])}\n${list(objects)}`);
    expect(await countsOf([cluster])).toEqual([6, 22, 0, 0]);
  });

  test("say how much was read", async () => {
    const text = list(objects);
    const seen: number[] = [];
    const signal = new AbortController().signal;
    await readFiles([file("counted.json", text)], {
      stdin: () => Readable.from([]),
      signal,
      onProgress: (n) => seen.push(n),
    });
    expect(seen.at(-1)).toBe(text.length);
  });

  test.each([
    ["does not exist", () => join(folder, "absent.json"), "ENOENT"],
    ["has no Node", () => file("pods-only.json", list(objects.filter(({ kind }) => kind === "Pod"))), "nodes"],
    ["is YAML", () => file("cluster.yaml", "apiVersion: v1\nitems: []\n"), "-o json"],
    ["is cut gzip", () => file("cut.json.gz", gzipSync(list(objects)).subarray(0, 900)), "gzip"],
    ["ends too early", () => file("cut.json", list(objects).slice(0, 900)), "byte 900"],
    [
      "has a wrong field",
      () =>
        file(
          "wrong.json",
          list([objects[0] ?? {}, { kind: "Pod", apiVersion: "v1", metadata: { name: "a" }, spec: {} }]),
        ),
      "items[1].spec.containers",
    ],
  ])("are refused if one %s", async (_name, path, words) => {
    const error = await read([path()]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadFile);
    expect((error as Error).message).toContain(words);
  });
});

describe("a saved snapshot", () => {
  test("gives the same plan when it is read again", async () => {
    const snapshot = await fixtureSnapshot();
    const contents = await read([file("saved.json", snapshotText(snapshot, "1.2.3"))]);
    if (contents.kind !== "snapshot") throw new Error("it is no snapshot");
    expect(contents.saved.version).toBe("1.2.3");
    expect(plan(contents.saved.snapshot)).toEqual(plan(snapshot));
  });

  test.each([
    ["another version", (text: string) => text.replace("evenkeel.io/v1", "evenkeel.io/v9"), "apiVersion"],
    ["no pods", (text: string) => text.replace('"pods":{', '"pots":{'), "snapshot.cluster.pods"],
    ["no nodes", (text: string) => text.replace('"nodes":[', '"knots":['), "snapshot.cluster.nodes"],
    ["a row that is not there", (text: string) => text.replace(/"node":\[\d+,/, '"node":[99,'), "pods.node"],
    ["a policy that is none", (text: string) => text.replace('"hotThreshold":0.8', '"hotThreshold":8'), "hotThreshold"],
    ["a column that is too short", (text: string) => text.replace(/"flags":\[\d+,/, '"flags":['), "pods.flags"],
  ])("with %s is refused", async (_name, change, words) => {
    const text = snapshotText(await fixtureSnapshot(), "1.2.3");
    const path = file("bad-snapshot.json", change(text));
    await expect(read([path])).rejects.toThrow(words);
  });

  test("with hashed names has none of the names, and gives the same plan", async () => {
    const snapshot = await fixtureSnapshot();
    const hashed = withHashedNames(snapshot, "salt");
    const text = snapshotText(hashed, "1.2.3");
    for (const name of ["shop", "web", "checkout", "zone-0", "disk.example.com", "registry", "uid-"])
      expect(text).not.toContain(name);
    expect(text).toContain("topology.kubernetes.io/zone");
    const [one, other] = [plan(snapshot), plan(hashed)];
    expect(other.moves).toHaveLength(one.moves.length);
    for (const [index, sigma] of one.curve.bound.entries()) expect(other.curve.bound[index]).toBeCloseTo(sigma, 9);
    for (const [index, sigma] of one.curve.predicted.entries())
      expect(other.curve.predicted[index]).toBeCloseTo(sigma, 9);
    expect(other.stays.map(({ code }) => code).sort()).toEqual(one.stays.map(({ code }) => code).sort());
    expect(withHashedNames(snapshot, "salt")).toEqual(hashed);
    expect(withHashedNames(snapshot, "pepper")).not.toEqual(hashed);
  });
});

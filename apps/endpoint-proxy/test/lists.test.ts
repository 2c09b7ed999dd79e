import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { at, type Json, listAt, numberAt, textAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TABLE = {
  accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
};

let world: ThreeClusters;
beforeAll(async () => {
  world = await ThreeClusters.start();
  await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment("web", 10)));
  for (const [cluster, names] of [
    ["a", ["kappa", "alpha"]],
    ["b", ["beta", "kappa"]],
    ["c", ["zeta"]],
  ] as const) {
    for (const name of names) {
      const data = { text: 'a "quoted" {[, backslash \\\\', cluster };
      await world.direct(cluster, "POST", CONFIG_MAPS, JSON.stringify({ metadata: { name }, data }));
    }
  }
});
afterAll(async () => world.stop());
afterEach(() => world.troubles.clear());

const names = (list: Json) =>
  listAt(list, ["items"]).map((item) => [
    textAt(item, ["metadata", "name"]),
    textAt(item, ["metadata", "annotations", "evenkeel.io/cluster"]),
  ]);

test("a list of a kind that is not copied is the union, by name and cluster, with the cluster of each item", async () => {
  const { json, warnings } = await world.ask("GET", CONFIG_MAPS);
  expect(names(json)).toEqual([
    ["alpha", "a"],
    ["beta", "b"],
    ["kappa", "a"],
    ["kappa", "b"],
    ["zeta", "c"],
  ]);
  expect(warnings).toEqual([]);
  expect([textAt(json, ["kind"]), textAt(json, ["apiVersion"])]).toEqual(["ConfigMapList", "v1"]);
  const own = await world.direct("a", "GET", CONFIG_MAPS);
  expect(textAt(json, ["metadata", "resourceVersion"])).toBe(textAt(own.json, ["metadata", "resourceVersion"]));
  const [first] = listAt(json, ["items"]);
  expect(textAt(first, ["data", "text"])).toBe('a "quoted" {[, backslash \\\\');
});

test("a Table has the cluster as its last column", async () => {
  const { json } = await world.ask("GET", CONFIG_MAPS, undefined, TABLE);
  const columns = listAt(json, ["columnDefinitions"]).map((column) => textAt(column, ["name"]));
  expect(columns.at(-1)).toBe("Cluster");
  const rows = listAt(json, ["rows"]).map((row) => listAt(row, ["cells"]));
  expect(rows.map((cells) => [cells[0], cells.at(-1), cells.length])).toEqual(
    [
      ["alpha", "a"],
      ["beta", "b"],
      ["kappa", "a"],
      ["kappa", "b"],
      ["zeta", "c"],
    ].map((row) => [...row, columns.length]),
  );
});

test("a Deployment is shown once, summed, in lists and Tables", async () => {
  const { json } = await world.ask("GET", DEPLOYMENTS);
  expect(listAt(json, ["items"]).map((item) => numberAt(item, ["spec", "replicas"]))).toEqual([10]);
  expect(textAt(json, ["items", "0", "metadata", "resourceVersion"])).toMatch(/^10001\d{60}$/);
  for (const path of [`${DEPLOYMENTS}?limit=500`, `${DEPLOYMENTS}/web`]) {
    const table = await world.ask("GET", path, undefined, TABLE);
    expect(listAt(table.json, ["rows"]).map((row) => [at(row, ["cells", "0"]), at(row, ["cells", "1"])])).toEqual([
      ["web", "0/10"],
    ]);
    expect(listAt(table.json, ["rows", "0", "cells"]).at(-1)).toBe("a,b,c");
  }
});

test("pages of a limit go on in every member that has more", async () => {
  const seen: string[] = [];
  let token = "";
  let pages = 0;
  do {
    const query = token === "" ? "limit=3" : `limit=3&continue=${token}`;
    const { json } = await world.ask("GET", `${CONFIG_MAPS}?${query}`);
    expect(listAt(json, ["items"]).length).toBeLessThanOrEqual(3);
    seen.push(...names(json).map((pair) => pair.join("@")));
    token = textAt(json, ["metadata", "continue"]) ?? "";
    pages += 1;
  } while (token !== "");
  expect(seen.toSorted()).toEqual(["alpha@a", "beta@b", "kappa@a", "kappa@b", "zeta@c"]);
  expect(pages).toBe(2);
  expect(await world.ask("GET", `${CONFIG_MAPS}?limit=3&continue=other`)).toMatchObject({ status: 410 });
});

test.each([
  ["cut", "no answer"],
  [{ status: 403 }, "HTTP 403"],
] as const)("a member that is %j is left out, with a Warning", async (trouble, why) => {
  world.trouble({ cluster: "b", trouble, hits: () => true });
  const { json, warnings, status } = await world.ask("GET", CONFIG_MAPS);
  expect([status, names(json).length]).toEqual([200, 3]);
  expect(warnings).toEqual([`299 - "cluster b is left out: ${why}"`]);
});

test("a member that does not serve the kind has an empty list", async () => {
  world.trouble({ cluster: "b", trouble: { status: 404 }, hits: () => true });
  const { json, warnings } = await world.ask("GET", CONFIG_MAPS);
  expect([names(json).length, warnings]).toEqual([3, []]);
});

test("a list at a resourceVersion is the own cluster's alone, with a Warning", async () => {
  const { json, warnings } = await world.ask("GET", `${CONFIG_MAPS}?resourceVersion=0`);
  expect(names(json).map(([name]) => name)).toEqual(["alpha", "kappa"]);
  expect(warnings).toHaveLength(1);
});

test.each([CONFIG_MAPS, `${CONFIG_MAPS}/alpha`, `${CONFIG_MAPS}?watch=true`])(
  "an own cluster that is too busy for GET %s tells the client when to come again",
  async (path) => {
    const end = world.trouble({ cluster: "a", trouble: { status: 429, retryAfter: 7 }, hits: () => true });
    expect(await world.ask("GET", path)).toMatchObject({ status: 429, retryAfter: "7" });
    end();
  },
);

test("an object that only a peer has is 404 that says where it is", async () => {
  const got = await world.ask("GET", `${CONFIG_MAPS}/zeta`);
  expect(got.status).toBe(404);
  expect(textAt(got.json, ["message"])).toContain("/clusters/c");
  expect(await world.ask("GET", `${CONFIG_MAPS}/alpha`)).toMatchObject({
    status: 200,
  });
  expect(await world.ask("GET", `${CONFIG_MAPS}/nowhere`)).toMatchObject({
    status: 404,
  });
});

test("ClusterScores, discovery and parts of objects are left to the own cluster", () => {
  for (const path of [
    "/apis/waoendpointproxy.bitmedia.co.jp/v1beta1/namespaces/wao-system/clusterscores",
    "/apis",
    "/api/v1/namespaces/default/pods/x/log",
  ]) {
    expect(world.isOwn("GET", path)).toBe(true);
  }
});

test.each(["<html>", '{"items":[}', '{"items":', '{"kind":"Table","rows":[]}', "null"])(
  "a member that answers %s is left out, with a Warning",
  async (text) => {
    world.trouble({ cluster: "b", trouble: { status: 200, text }, hits: () => true });
    const { json, warnings, status } = await world.ask("GET", CONFIG_MAPS);
    expect([status, names(json).map(([, cluster]) => cluster)]).toEqual([200, ["a", "a", "c"]]);
    expect(warnings).toEqual([expect.stringContaining("cluster b is left out")]);
  },
);

test("a page that goes on in a cluster that is no longer a member says so", async () => {
  const { json } = await world.ask("GET", `${CONFIG_MAPS}?limit=3`);
  const token = textAt(json, ["metadata", "continue"]) ?? "";
  world.score({ a: 38, c: 40 });
  try {
    const next = await world.ask("GET", `${CONFIG_MAPS}?limit=3&continue=${token}`);
    expect(next.warnings).toEqual([expect.stringContaining("cluster b is left out")]);
    world.score({ c: 40, d: 1 }, { c: { own: true } });
    expect(await world.ask("GET", `${CONFIG_MAPS}?limit=3&continue=${token}`)).toMatchObject({ status: 410 });
  } finally {
    world.score({ a: 38, b: 41, c: 40 });
  }
});

test("metadata alone is asked of the members where a client asks for it", async () => {
  const accept =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  const asked: string[] = [];
  world.accepts = asked;
  await world.ask("GET", CONFIG_MAPS, undefined, { accept });
  await world.ask("GET", `${DEPLOYMENTS}/web`, undefined, { accept });
  world.accepts = undefined;
  expect(new Set(asked)).toEqual(
    new Set(["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"]),
  );
});

test("a version of the own cluster is not asked of peers", async () => {
  const { json } = await world.direct("a", "GET", `${DEPLOYMENTS}/web`);
  const version = Number(textAt(json, ["metadata", "resourceVersion"])) + 1_000_000;
  await world.direct("a", "GET", CONFIG_MAPS);
  const paths: string[] = [];
  world.trouble({ cluster: "b", trouble: "cut", hits: ({ path }) => paths.push(path) < 0 });
  await world.ask("GET", `${DEPLOYMENTS}/web?resourceVersion=${version}`);
  await world.ask("GET", `${DEPLOYMENTS}/web?resourceVersion=0`);
  expect(paths).toEqual([`${DEPLOYMENTS}/web`, `${DEPLOYMENTS}/web?resourceVersion=0`]);
});

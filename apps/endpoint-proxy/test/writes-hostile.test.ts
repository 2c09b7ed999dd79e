import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { at, listAt, numberAt, textAt } from "../src/bodies/json-text.ts";
import { claimProtobuf, PROTOBUF } from "./protobuf-bodies.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

const CORE = "/api/v1/namespaces/default";
const MERGE = { "content-type": "application/merge-patch+json" };
const DRY_RUN = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] });

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start({ deadline: 500 })));
afterAll(async () => world.stop());
afterEach(() => world.troubles.clear());

let count = 0;
const fresh = () => `shop-${(count += 1)}`;
const values = async (path: string, field: readonly string[]) =>
  Object.values(await world.each(path)).map((object) => at(object, field));
const exists = async (path: string) => Object.values(await world.each(path)).map((object) => object !== undefined);
const isCommit = ({ method, isDryRun }: { method: string; isDryRun: boolean }) => method !== "GET" && !isDryRun;

async function made(): Promise<{ readonly name: string; readonly path: string }> {
  const name = fresh();
  await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, 9)));
  return { name, path: `${DEPLOYMENTS}/${name}` };
}

describe("copies of what belongs to the own cluster", () => {
  const spread = (name: string) =>
    JSON.stringify({ metadata: { name, annotations: { "evenkeel.io/spread": "true" } }, data: { a: "1" } });

  test("stay if the DELETE is a dry run, as kubectl sends it: in the body", async () => {
    const name = fresh();
    await world.ask("POST", `${CORE}/configmaps`, spread(name));
    expect(await exists(`${CORE}/configmaps/${name}`)).toEqual([true, true, true]);
    expect(await world.ask("DELETE", `${CORE}/configmaps/${name}`, DRY_RUN)).toMatchObject({ status: 200 });
    expect(await exists(`${CORE}/configmaps/${name}`)).toEqual([true, true, true]);
  });

  test("of what a workload names stay if its DELETE is a dry run", async () => {
    const [name, needs] = [fresh(), fresh()];
    await world.ask("POST", `${CORE}/configmaps`, JSON.stringify({ metadata: { name: needs } }));
    const object = deployment(name, 9) as { metadata: object; spec: { template: { spec: object } } };
    Object.assign(object.metadata, { annotations: { "evenkeel.io/follow": "true" } });
    Object.assign(object.spec.template.spec, { volumes: [{ name: "a", configMap: { name: needs } }] });
    await world.ask("POST", DEPLOYMENTS, JSON.stringify(object));
    expect(await exists(`${CORE}/configmaps/${needs}`)).toEqual([true, true, true]);
    await world.ask("DELETE", `${DEPLOYMENTS}/${name}`, DRY_RUN);
    expect(await exists(`${DEPLOYMENTS}/${name}`)).toEqual([true, true, true]);
    expect(await exists(`${CORE}/configmaps/${needs}`)).toEqual([true, true, true]);
    await world.ask("DELETE", `${DEPLOYMENTS}/${name}`);
    expect(await exists(`${CORE}/configmaps/${needs}`)).toEqual([true, false, false]);
  });

  test("stay if the own cluster does not say whether the original exists", async () => {
    const name = fresh();
    await world.ask("POST", `${CORE}/configmaps`, spread(name));
    world.trouble({ cluster: "a", trouble: "cut", hits: ({ method }) => method === "GET" });
    expect(await world.ask("PUT", `${CORE}/configmaps/${name}`, spread(name))).toMatchObject({ status: 200 });
    expect(await exists(`${CORE}/configmaps/${name}`)).toEqual([true, true, true]);
  });
});

test("a write that the own cluster refuses makes no namespace elsewhere", async () => {
  const namespace = fresh();
  await world.direct("a", "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  world.trouble({ cluster: "a", trouble: { status: 422 }, hits: ({ isDryRun }) => isDryRun });
  expect(await world.ask("POST", path, JSON.stringify(deployment("web", 9)))).toMatchObject({ status: 422 });
  expect(await exists(`/api/v1/namespaces/${namespace}`)).toEqual([true, false, false]);
  world.troubles.clear();
  expect(await world.ask("POST", path, JSON.stringify(deployment("web", 9)))).toMatchObject({ status: 201 });
  expect(await exists(`/api/v1/namespaces/${namespace}`)).toEqual([true, true, true]);
});

describe("what is put back", () => {
  test("labels and annotations where there were none", async () => {
    const name = fresh();
    const ports = [{ port: 80 }];
    const path = `${CORE}/services/${name}`;
    for (const one of ["a", "b", "c"])
      await world.direct(one, "POST", `${CORE}/services`, JSON.stringify({ metadata: { name }, spec: { ports } }));
    world.trouble({ cluster: "c", trouble: { status: 500 }, hits: isCommit });
    const patch = JSON.stringify({ metadata: { labels: { x: "1" }, annotations: { y: "2" } } });
    expect(await world.ask("PATCH", path, patch, MERGE)).toMatchObject({ status: 500 });
    expect(await values(path, ["metadata", "labels", "x"])).toEqual([undefined, undefined, undefined]);
    expect(await values(path, ["metadata", "annotations", "y"])).toEqual([undefined, undefined, undefined]);
  });

  test("finalizers and owners too", async () => {
    const { path } = await made();
    world.trouble({ cluster: "c", trouble: { status: 500 }, hits: isCommit });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "u" };
    const patch = JSON.stringify({ metadata: { finalizers: ["a.io/b"], ownerReferences: [owner] } });
    expect(await world.ask("PATCH", path, patch, MERGE)).toMatchObject({ status: 500 });
    expect(await values(path, ["metadata", "finalizers"])).toEqual([undefined, undefined, undefined]);
    expect(await values(path, ["metadata", "ownerReferences"])).toEqual([undefined, undefined, undefined]);
  });

  test("not what somebody else changed between the reading and the write", async () => {
    const { path } = await made();
    world.trouble({
      cluster: "a",
      trouble: async () =>
        world.direct("a", "PATCH", path, '{"metadata":{"labels":{"theirs":"1"}}}', MERGE["content-type"]),
      hits: ({ isDryRun }) => isDryRun,
    });
    world.trouble({ cluster: "c", trouble: { status: 500 }, hits: isCommit });
    const got = await world.ask("PATCH", path, '{"metadata":{"labels":{"mine":"1"}}}', MERGE);
    expect(got.status).toBe(500);
    expect(await values(path, ["metadata", "labels", "theirs"])).toEqual(["1", undefined, undefined]);
    expect(await values(path, ["metadata", "labels", "mine"])).toEqual([undefined, undefined, undefined]);
  });

  test("a member that gave no answer is said to have given none, even if it is as before", async () => {
    const { path } = await made();
    world.trouble({ cluster: "c", trouble: "cut", hits: isCommit });
    const got = await world.ask("PATCH", path, '{"spec":{"replicas":12}}', MERGE);
    const causes = listAt(got.json, ["details", "causes"]);
    expect(
      textAt(
        causes.find((cause) => textAt(cause, ["field"]) === "c"),
        ["message"],
      ),
    ).toContain("no answer");
  });
});

test("a version that a client read while a member had a copy is out of date when the copy is gone", async () => {
  const { path } = await made();
  const { json, text } = await world.ask("GET", path);
  expect(numberAt(json, ["spec", "replicas"])).toBe(9);
  await world.direct("b", "DELETE", path);
  expect(await world.ask("PUT", path, text)).toMatchObject({ status: 409 });
  expect(await exists(path)).toEqual([true, false, true]);
});

test("a precondition on a uid does not delete another object of that name", async () => {
  const { path } = await made();
  const { json } = await world.ask("GET", path);
  const uid = textAt(json, ["metadata", "uid"]) ?? "";
  await world.direct("a", "DELETE", path);
  const options = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid } };
  expect(await world.ask("DELETE", path, JSON.stringify(options))).toMatchObject({ status: 409 });
  expect(await exists(path)).toEqual([false, true, true]);
});

test("JSON that is nested too deep is 400, and nothing is sent", async () => {
  const seen = world.seen.length;
  for (const text of ["[".repeat(200_000), `{"spec":${"[".repeat(200_000)}${"]".repeat(200_000)}}`]) {
    expect(await world.ask("POST", DEPLOYMENTS, text)).toMatchObject({ status: 400 });
    expect(await world.ask("PATCH", `${DEPLOYMENTS}/x`, text, MERGE)).toMatchObject({ status: 400 });
  }
  expect(world.seen.length).toBe(seen);
});

test("a PUT in protobuf keeps what a peer's own object has: owners, finalizers and volume", async () => {
  const type = { "content-type": PROTOBUF };
  const owners = (one: string) => [
    { apiVersion: "example.com/v1", kind: "Store", name: `store-${one}`, uid: `uid-of-store-${one}`, controller: true },
    {
      ...{ apiVersion: "example.com/v1", kind: "Backup", name: one, uid: `uid-of-${one}` },
      ...{ controller: false, blockOwnerDeletion: true },
    },
  ];
  const name = fresh();
  const path = `${CORE}/persistentvolumeclaims/${name}`;
  for (const one of ["a", "b", "c"]) {
    const metadata = {
      name,
      finalizers: [`kubernetes.io/pvc-protection`, `${one}.io/x`],
      ownerReferences: owners(one),
    };
    const spec = { accessModes: ["ReadWriteOnce"], volumeName: `pv-${one}` };
    await world.direct(one, "POST", `${CORE}/persistentvolumeclaims`, JSON.stringify({ metadata, spec }));
  }
  const finalizers = ["kubernetes.io/pvc-protection", "a.io/x"];
  const sent = claimProtobuf(name, { volumeName: "pv-a", finalizers, owner: "sent" });
  expect(await world.ask("PUT", path, sent, type)).toMatchObject({ status: 200 });
  expect(await values(path, ["spec", "volumeName"])).toEqual(["pv-a", "pv-b", "pv-c"]);
  expect(await values(path, ["metadata", "finalizers"])).toEqual(
    ["a", "b", "c"].map((one) => ["kubernetes.io/pvc-protection", `${one}.io/x`]),
  );
  const sentOwner = { apiVersion: "example.com/v1", kind: "Store", name: "sent", uid: "uid-of-sent" };
  expect(await values(path, ["metadata", "ownerReferences"])).toEqual([[sentOwner], owners("b"), owners("c")]);
  expect(await values(path, ["metadata", "labels", "sent"])).toEqual(["1", "1", "1"]);
});

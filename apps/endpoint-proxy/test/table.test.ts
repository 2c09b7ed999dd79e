import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type JsonFields, numberAt, textAt } from "../src/bodies/json-text.ts";
import { deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());

interface Row {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly replicas?: number;
  /** Whether a PATCH is copied. */
  readonly patched: boolean;
}

const NAME = "sample";
const metadata = { name: NAME };
const container = { name: "m", image: "i" };
const labels = { app: NAME };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/v" } };
const set = { serviceName: NAME, replicas: 7, selector: { matchLabels: labels } };

/** The rows of the table whose kinds are copied. */
const ROWS: Readonly<Record<string, Row>> = {
  Namespace: { path: "/api/v1/namespaces", object: { apiVersion: "v1", metadata }, patched: false },
  Service: {
    path: "/api/v1/namespaces/default/services",
    object: { apiVersion: "v1", metadata, spec: { ports: [{ port: 80 }] } },
    patched: true,
  },
  PersistentVolume: {
    path: "/api/v1/persistentvolumes",
    object: { apiVersion: "v1", metadata, spec: volume },
    patched: true,
  },
  PersistentVolumeClaim: {
    path: "/api/v1/namespaces/default/persistentvolumeclaims",
    object: { apiVersion: "v1", metadata, spec: claim },
    patched: true,
  },
  Deployment: {
    path: "/apis/apps/v1/namespaces/default/deployments",
    object: deployment(NAME, 7),
    ...{ replicas: 7, patched: true },
  },
  StatefulSet: {
    path: "/apis/apps/v1/namespaces/default/statefulsets",
    object: {
      ...{ apiVersion: "apps/v1", metadata },
      spec: { ...set, template: { metadata: { labels }, spec: { containers: [container] } } },
    },
    ...{ replicas: 7, patched: true },
  },
};

const everywhere = <T>(value: T): readonly T[] => [value, value, value];

describe.each(Object.entries(ROWS))("%s", (kind, { path, object, replicas, patched }) => {
  const one = `${path}/${NAME}`;
  const inEach = async (field: readonly string[]) =>
    Object.values(await world.each(one)).map((copy) => textAt(copy, field));
  const sum = async () =>
    Object.values(await world.each(one))
      .map((copy) => numberAt(copy, ["spec", "replicas"]) ?? 0)
      .reduce((all, part) => all + part);
  const note = ["metadata", "annotations", "note"];

  test("POST makes it in every cluster, labelled, and answers as the own cluster does", async () => {
    const got = await world.ask("POST", path, JSON.stringify({ kind, ...object }));
    expect([got.status, textAt(got.json, ["kind"])]).toEqual([201, kind]);
    expect(await inEach(["metadata", "labels", "wao-endpoint-proxy"])).toEqual(["local", "region-b", "region-c"]);
    expect(await sum()).toBe(replicas ?? 0);
    const own = (await world.each(one))["a"];
    expect(textAt(got.json, ["metadata", "uid"])).toBe(textAt(own, ["metadata", "uid"]));
  });

  test("GET shows one object, with the whole of its replicas and who has it", async () => {
    const got = await world.ask("GET", one);
    expect([got.status, numberAt(got.json, ["spec", "replicas"])]).toEqual([200, replicas]);
    const placement = JSON.parse(
      textAt(got.json, ["metadata", "annotations", "evenkeel.io/placement"]) ?? "{}",
    ) as object;
    expect(Object.keys(placement)).toEqual(["a", "b", "c"]);
  });

  test("PUT changes it in every cluster", async () => {
    const { json } = await world.ask("GET", one);
    const fields = json as JsonFields & { readonly metadata: JsonFields & { readonly annotations?: JsonFields } };
    const annotations = { ...fields.metadata.annotations, note: "put" };
    const body = JSON.stringify({ ...fields, metadata: { ...fields.metadata, annotations } });
    expect(await world.ask("PUT", one, body)).toMatchObject({ status: 200 });
    expect(await inEach(note)).toEqual(everywhere("put"));
    expect(await sum()).toBe(replicas ?? 0);
  });

  test(`PATCH ${patched ? "changes it in every cluster" : "is the own cluster's"}`, async () => {
    expect(world.isOwn("PATCH", one)).toBe(!patched);
    if (!patched) return;
    const body = JSON.stringify({ metadata: { annotations: { note: "patch" } } });
    const got = await world.ask("PATCH", one, body, { "content-type": "application/merge-patch+json" });
    expect(got.status).toBe(200);
    expect(await inEach(note)).toEqual(everywhere("patch"));
    expect(await sum()).toBe(replicas ?? 0);
  });

  test("HEAD is the own cluster's", () => expect(world.isOwn("HEAD", one)).toBe(true));

  test("DELETE ends it in every cluster", async () => {
    expect(await world.ask("DELETE", one)).toMatchObject({ status: 200 });
    const left = Object.values(await world.each(one));
    // A Namespace, and a volume in use, end later.
    expect(
      left.filter((copy) => copy !== undefined && textAt(copy, ["metadata", "deletionTimestamp"]) === undefined),
    ).toEqual([]);
  });
});

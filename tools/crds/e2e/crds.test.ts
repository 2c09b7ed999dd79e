import { type Kind, kinds, parseRebalance, REBALANCE } from "@evenkeel/api";
import {
  badManifests,
  goodManifests,
  type Manifest,
  outgrownManifests,
  readmeExample,
  setField,
} from "@evenkeel/api/manifests";
import { rebalanceSpecs } from "@evenkeel/api/rebalance-specs";
import { type Cluster, waitUntil } from "@evenkeel/control-plane";
import { kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import {
  connectKube,
  type KubeClient,
  type KubeObject,
  kubeErrors,
  type Resource,
  type ResourceTypeOf,
} from "@evenkeel/kube";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { customResourceDefinition } from "../src/index.ts";
import { originalShape } from "../test/original-shape.ts";

const cluster = useCluster({ name: "crds", nodes: 0 });
let kube: KubeClient;

/** What ours refuses and the original's took, each under a name of its own. */
const outgrown = outgrownManifests.map(({ kind, title, field, manifest }, index) => {
  const object: Manifest = { ...manifest, metadata: { ...manifest.metadata, name: `outgrown-${index}` } };
  return [`${kind}: ${title}`, object, field] as const;
});

const settings = {
  kubeContext: undefined,
  kubeDeadline: 30_000,
  kubeConnections: 4,
  kubeQps: 0,
  kubeBurst: 100,
};

beforeAll(async () => {
  kube = connectKube({ settings: { ...settings, kubeconfig: cluster().kubeconfig }, env: {}, userAgent: "crds-e2e" });
  // As an original's user has them: the originals' CRDs are there, with objects, before ours come.
  await applyCrds(cluster(), originalShape);
  for (const manifest of [...goodManifests, ...outgrown.map(([, object]) => object)]) await store(asBefore(manifest));
  await applyCrds(cluster(), customResourceDefinition);
}, TEST_TIMEOUT_MS);

afterAll(() => kube.stop());

/** Applies a CRD of every kind and waits until the API server serves all of them as they are now. */
async function applyCrds(to: Cluster, crd: (kind: Kind) => object): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: kinds.map(crd) });
  await kubectl(to, ["apply", "--server-side", "--force-conflicts", "-f", "-"], { input });
  for (const { plural, group } of kinds) {
    await kubectl(to, ["wait", "--for=condition=Established", `crd/${plural}.${group}`, "--timeout=30s"]);
  }
  await waitUntil("every kind to be served", async () => {
    const served = await Promise.all(kinds.map((kind) => kube.serves(typeOf(kind))));
    return served.every(Boolean) ? undefined : "discovery does not list all of them";
  });
}

type Stored = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

function kindOf({ kind: name }: Manifest): Kind {
  const found = kinds.find(({ kind }) => kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

function typeOf({ group, version, kind, plural, scope }: Kind): ResourceTypeOf<Stored> {
  return { group, version, kind, plural, namespaced: scope === "Namespaced" };
}

function resourceOf(manifest: Manifest): Resource<Stored> {
  return kube.resource(typeOf(kindOf(manifest)));
}

function placed(manifest: Manifest): Stored {
  const namespaced = kindOf(manifest).scope === "Namespaced";
  return namespaced ? { ...manifest, metadata: { ...manifest.metadata, namespace: "default" } } : manifest;
}

/**
 * A manifest as an original's user has it: under another name, and with nothing in the status that only this project
 * writes.
 */
function asBefore(manifest: Manifest): Manifest {
  const { status, metadata, ...rest } = manifest;
  const ours = ["conditions", "initialWeights"];
  const own = Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !ours.includes(field)));
  return {
    ...rest,
    metadata: { ...metadata, name: `old-${metadata.name}` },
    ...(status === undefined ? {} : { status: own }),
  };
}

/** Creates an object with its status, under strict validation, and gives it as it is read back. */
async function store(manifest: Manifest): Promise<Stored> {
  const resource = resourceOf(manifest);
  const object = placed(manifest);
  const created = await resource.create(object, { fieldValidation: "Strict" });
  if (object.status !== undefined) {
    await resource.status.replace({ ...created, status: object.status }, { fieldValidation: "Strict" });
  }
  return resource.get({ name: manifest.metadata.name, namespace: object.metadata.namespace });
}

/** What a service reads of an object: the parsed form, in which the API server's defaults are no difference. */
function parsed(manifest: Manifest, object: unknown): { readonly spec: unknown; readonly status: unknown } | undefined {
  const { data } = kindOf(manifest).schema.safeParse(object);
  return data && { spec: data["spec"], status: data["status"] };
}

test.each(kinds.map((kind) => [kind.kind, kind] as const))("%s has a structural schema", async (_name, kind) => {
  const crd = await kubectl(cluster(), ["get", "crd", `${kind.plural}.${kind.group}`, "-o", "json"]);
  const { status } = JSON.parse(crd) as { status: { conditions: { type: string; status: string }[] } };
  expect(
    status.conditions
      .filter((condition) => condition.status === "True")
      .map(({ type }) => type)
      .sort(),
  ).toEqual(["Established", "NamesAccepted"]);
});

describe("a good manifest is taken unchanged and read back equal", () => {
  test.each(goodManifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "%s",
    async (_name, manifest) => {
      const read = await store(manifest);
      const expected = parsed(manifest, placed(manifest));
      expect(parsed(manifest, read)).toEqual(expected);
      if (expected) expect({ spec: read.spec, status: read.status }).toEqual(expected);
    },
  );
});

describe("a bad manifest is refused with its field's name", () => {
  test.each(badManifests.map((bad) => [`${bad.kind}: ${bad.title} (${bad.field})`, bad] as const))(
    "%s",
    async (_name, bad) => {
      const resource = resourceOf(bad.manifest);
      const object = placed({ ...bad.manifest, metadata: { ...bad.manifest.metadata, name: "bad" } });
      const write = async () => {
        if (bad.subresource === undefined) return resource.create(object, { fieldValidation: "Strict", dryRun: true });
        const full = await resource.get({ name: "full", namespace: object.metadata.namespace });
        return resource.status.replace({ ...full, status: object.status }, { fieldValidation: "Strict", dryRun: true });
      };
      const refusal: unknown = await write().catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(kubeErrors.Invalid);
      expect((refusal as Error).message).toContain(bad.field);
    },
  );
});

describe("an object that was stored under the original's CRD", () => {
  test.each(goodManifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "%s reads the same and can be written",
    async (_name, manifest) => {
      const resource = resourceOf(manifest);
      const before = placed(asBefore(manifest));
      const old = await resource.get({ name: before.metadata.name ?? "", namespace: before.metadata.namespace });
      const { metadata, ...kept } = before;
      expect(old).toMatchObject(kept);
      expect(parsed(manifest, old)).toEqual(parsed(manifest, before));
      // An update may leave a field as bad as it was; a new object is looked at as a whole.
      const anew = { ...kept, metadata: { ...metadata, name: "anew" } };
      await expect(resource.create(anew, { fieldValidation: "Strict", dryRun: true })).resolves.toBeDefined();
      const labels = { moved: "over" };
      await expect(resource.replace({ ...old, metadata: { ...old.metadata, labels } })).resolves.toMatchObject({
        metadata: { labels },
      });
    },
  );
});

describe("an object that only the original's CRD would take", () => {
  test.each(outgrown)(
    "%s is kept, is reported by its field, and takes labels and a status",
    async (_title, manifest, field) => {
      const resource = resourceOf(manifest);
      const before = placed(asBefore(manifest));
      const old = await resource.get({ name: before.metadata.name ?? "", namespace: before.metadata.namespace });
      expect(old.spec).toMatchObject(before.spec as object);
      const lines =
        kindOf(manifest)
          .schema.safeParse(old)
          .error?.issues.map(({ path }) => path.join(".")) ?? [];
      expect(lines).toContain(field.replaceAll("[", ".").replaceAll("]", ""));
      const relabelled = await resource.replace({ ...old, metadata: { ...old.metadata, labels: { moved: "over" } } });
      const status = { ...(old.status as object), condition: "Error" };
      await expect(resource.status.replace({ ...relabelled, status })).resolves.toMatchObject({ status });
    },
  );
});

describe("kubectl", () => {
  const table = async (...args: readonly string[]) => {
    const lines = (await kubectl(cluster(), ["get", "rebalances", "aws-env", ...args])).trimEnd().split("\n");
    return lines.map((line) => line.split(/ {2,}/));
  };

  test("applies the example of the original's README as it stands, and shows its columns", async () => {
    await kubectl(cluster(), ["apply", "-f", "-"], { input: readmeExample });
    const resource = kube.resource(typeOf(REBALANCE));
    const applied = await resource.get({ name: "aws-env", namespace: "default" });
    expect(applied.spec).toMatchObject({ dryRun: true, metrics: { prometheus: { timeout: 30 } } });
    const status = { condition: "Healty", desiredValue: 16, actualValue: 8, lastUpdateAt: new Date().toISOString() };
    await resource.status.replace({ ...applied, status }, { fieldValidation: "Strict" });
    const age = expect.stringMatching(/^\d+s$/);
    expect(await table()).toEqual([
      ["NAME", "LAST UPDATE", "CONDITION"],
      ["aws-env", age, "Healty"],
    ]);
    expect(await table("-o", "wide")).toEqual([
      ["NAME", "LAST UPDATE", "CONDITION", "DRY RUN", "DESIRED", "ACTUAL"],
      ["aws-env", age, "Healty", "true", "16", "8"],
    ]);
    await expect(kubectl(cluster(), ["apply", "-f", "-"], { input: readmeExample })).resolves.toContain("unchanged");
  });

  const httpRoute = { name: "shop", backend: "shop-a" };
  const TRACKING = "spec.policy.targettracking";
  test.each<[title: string, path: string, value: unknown, said: string]>([
    ["a target of 0", `${TRACKING}.targetValue`, 0, "should be greater than or equal to 1"],
    ["a weight that Route 53 does not take", `${TRACKING}.minimum`, 300, "expected at most 255"],
    [
      "a 25th hour",
      `${TRACKING}.scheduled`,
      [{ startTime: "25:00", endTime: "02:00", value: 1 }],
      `scheduled[0].startTime: Invalid value: "25:00": expected a time of day from 00:00 to 23:59`,
    ],
    ["a target beside targets", "spec.targets", [{ httpRoute }], "exactly one of target, targets must be set"],
    ["two targets in one", "spec.target.httpRoute", httpRoute, "exactly one of route53, httpRoute must be set"],
    ["no target", "spec.target", undefined, "exactly one of target, targets must be set"],
    ["an interval of 0", "spec.interval", "0s", "expected a duration above 0"],
    ["no set identifier", "spec.target.route53.resource.identifier", undefined, "expected the set identifier"],
  ])("is told of %s, and of the field", async (_title, path, value, said) => {
    const manifest = structuredClone(goodManifests.find(({ metadata }) => metadata.name === "aws-env"));
    setField(manifest ?? {}, path, value);
    setField(manifest ?? {}, "metadata.name", "refused");
    const input = JSON.stringify(manifest);
    const refusal = await kubectl(cluster(), ["apply", "-f", "-"], { input }).catch(String);
    expect(refusal).toContain(path.replace(".httpRoute", "").replace("spec.targets", "spec.target"));
    expect(refusal).toContain(said);
  });
});

test("a Rebalance is refused by the API server if and only if the service would refuse it", async () => {
  const resource = kube.resource(typeOf(REBALANCE));
  const rebalance = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance" };
  const seen = { taken: 0, refused: 0 };
  const property = fc.asyncProperty(rebalanceSpecs, async (spec) => {
    const object = { ...rebalance, metadata: { name: "random", namespace: "default" }, spec };
    const parsed = parseRebalance(object);
    seen[parsed.ok ? "taken" : "refused"] += 1;
    const answer: unknown = await resource.create(object, { dryRun: true }).catch((error: unknown) => error);
    const refusal = answer instanceof kubeErrors.Invalid ? answer.message : undefined;
    expect({ ok: refusal === undefined, refusal, errors: parsed.ok ? [] : parsed.errors }).toMatchObject({
      ok: parsed.ok,
    });
  });
  await fc.assert(property, { numRuns: 300, interruptAfterTimeLimit: 60_000 });
  expect(seen.taken).toBeGreaterThan(5);
  expect(seen.refused).toBeGreaterThan(5);
});

test("kubectl scales a CollectorLoadBalancer", async () => {
  await kubectl(cluster(), ["scale", "collectorloadbalancer", "full", "--replicas=7"]);
  expect(await kubectl(cluster(), ["get", "collectorloadbalancer", "full", "-o", "jsonpath={.spec.replicas}"])).toBe(
    "7",
  );
});

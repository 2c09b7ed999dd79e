import { type Kind, kinds } from "@evenkeel/api";
import { badManifests, goodManifests, type Manifest } from "@evenkeel/api/manifests";
import { type Cluster } from "@evenkeel/control-plane";
import { eventually, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import {
  connectKube,
  type KubeClient,
  type KubeObject,
  kubeErrors,
  type Resource,
  type ResourceTypeOf,
} from "@evenkeel/kube";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { customResourceDefinition } from "../src/index.ts";
import { originalShape } from "../test/original-shape.ts";

const cluster = useCluster({ name: "crds", nodes: 0 });
let kube: KubeClient;

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
  for (const manifest of goodManifests) await store(asBefore(manifest));
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
  await eventually("every kind to be served", async () => {
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

/** A manifest as an original's user has it: under another name, and with nothing in the status that only this project writes. */
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

test("kubectl scales a CollectorLoadBalancer", async () => {
  await kubectl(cluster(), ["scale", "collectorloadbalancer", "full", "--replicas=7"]);
  expect(await kubectl(cluster(), ["get", "collectorloadbalancer", "full", "-o", "jsonpath={.spec.replicas}"])).toBe(
    "7",
  );
});

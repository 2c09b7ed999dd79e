import { describe, expect, test } from "@jest/globals";
import { type ElastiService, parseElastiService } from "@evenkeel/api";
import type { Service } from "@evenkeel/kube";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { originalPrivateServiceName } from "../observe/original-names.ts";
import type { Workload } from "../observe/workload-of.ts";
import { planChildren, type SelectionInput } from "./children-plan.ts";

const API = { apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService" };

/** As it was parsed, and as it is stored: they differ in what their types promise alone. */
function elastiService(name: string, spec: object, more: object = {}): ElastiService & StoredElastiService {
  const parsed = parseElastiService({
    ...API,
    metadata: { namespace: "shop", name, uid: `uid-${name}`, creationTimestamp: "2026-01-02T00:00:00Z", ...more },
    spec,
  });
  if (!parsed.ok) throw new Error(parsed.errors.join());
  return parsed.value as ElastiService & StoredElastiService;
}

const parent = elastiService("all", {
  selector: { matchLabels: { sleep: "yes" } },
  cooldownPeriod: 60,
  quietPeriod: 5,
});

const service = (
  name: string,
  spec: Service["spec"] = {},
  labels: Record<string, string> = { sleep: "yes" },
): Service => ({
  metadata: { namespace: "shop", name, labels },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

const workload = (name: string, app = name): Workload => ({
  target: { apiVersion: "apps/v1", kind: "Deployment", name },
  labels: { app },
});

const named = (name: string, service: string, target = service): StoredElastiService => ({
  ...API,
  metadata: { namespace: "shop", name, uid: `uid-${name}` },
  spec: { service, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: target } },
});

function plan(parts: Partial<SelectionInput> = {}) {
  const input: SelectionInput = {
    ...{ parent, services: [service("web")], workloads: [workload("web")], objects: [parent], own: undefined },
    ...parts,
  };
  return planChildren(input);
}

/** The children after all that is planned, as the API server would then have them. */
function carriedOut(parts: Partial<SelectionInput> = {}): readonly StoredElastiService[] {
  const { create, change, remove } = plan(parts);
  const changed = new Map(change.map(({ present, wanted }) => [present, { ...present, spec: wanted.spec }]));
  const kept = (parts.objects ?? [parent]).filter((object) => !remove.includes(object));
  return [...kept.map((object) => changed.get(object) ?? object), ...create];
}

describe("the children of an ElastiService that selects", () => {
  test("are the parent for one Service each, with the workload behind it", () => {
    expect(plan().create).toEqual([
      {
        ...API,
        metadata: {
          ...{ namespace: "shop", name: "all-web", labels: { "evenkeel.io/selected-by": "all" } },
          ownerReferences: [{ ...API, name: "all", uid: "uid-all", controller: true, blockOwnerDeletion: false }],
        },
        spec: {
          ...{ service: "web", cooldownPeriod: 60, quietPeriod: 5 },
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        },
      },
    ]);
  });

  test("are made once", () => {
    const objects = carriedOut();
    expect(plan({ objects })).toEqual({ create: [], change: [], remove: [], selected: 1, left: [] });
  });

  test("are equal in any order of fields, and with any further metadata", () => {
    const objects = carriedOut().map((object) => ({
      ...object,
      spec: Object.fromEntries(Object.entries(object.spec as object).reverse()),
      metadata: { ...object.metadata, generation: 3, finalizers: ["elasti.truefoundry.com/finalizer"] },
    }));
    expect(plan({ objects })).toMatchObject({ create: [], change: [], remove: [] });
  });

  test("follow the parent's spec, and the workload behind the Service", () => {
    const objects = carriedOut();
    const longer = { ...parent, spec: { ...parent.spec, cooldownPeriod: 600 } };
    expect(plan({ objects, parent: longer }).change).toMatchObject([{ wanted: { spec: { cooldownPeriod: 600 } } }]);
    expect(plan({ objects, workloads: [workload("web-2", "web")] }).change).toMatchObject([
      { wanted: { spec: { scaleTargetRef: { name: "web-2" } } } },
    ]);
  });

  test("go when their Service goes, is going or is no longer selected", () => {
    const objects = carriedOut();
    const going = {
      ...service("web"),
      metadata: { ...service("web").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    };
    for (const services of [[], [going], [service("web", {}, {})]]) {
      expect(plan({ objects, services }).remove).toMatchObject([{ metadata: { name: "all-web" } }]);
      expect(plan({ objects, services }).selected).toBe(0);
    }
  });

  test("are neither changed nor created again while one is terminating", () => {
    const objects = carriedOut().map((object) =>
      object === parent
        ? object
        : { ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    );
    expect(plan({ objects })).toMatchObject({ create: [], change: [], remove: [], selected: 1 });
    expect(plan({ objects, services: [] })).toMatchObject({ remove: [] });
  });

  test("are those of all Services with a service of *, without the label and the autoscaler of one", () => {
    const star = elastiService("all", { service: "*", autoscaler: { type: "keda", name: "web" } });
    const services = [service("web", {}, {}), service("api", {}, {})];
    const { create } = plan({ parent: star, services, workloads: [workload("web"), workload("api")] });
    expect(create.map(({ metadata }) => metadata.name)).toEqual(["all-web", "all-api"]);
    expect(create[0]?.spec).toEqual({
      ...{ service: "web", cooldownPeriod: 900 },
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    });
  });

  test("have names that fit, and a label that fits", () => {
    const long = elastiService("p".repeat(250), { selector: {} });
    const [child] = plan({ parent: long, objects: [long] }).create;
    expect(child?.metadata.name).toHaveLength(253);
    expect(child?.metadata.labels?.["evenkeel.io/selected-by"]).toHaveLength(63);
  });

  test.each<[string, Service]>([
    ["has other labels", service("web", {}, { sleep: "no" })],
    ["is a name elsewhere", service("web", { type: "ExternalName", externalName: "example.com" })],
    ["is KubeElasti's private copy", service("elasti-web-pvt-4b5e57f6eb", { selector: { app: "web" } })],
  ])("do not include one of a Service that %s", (_name, one) => {
    expect(plan({ services: [one] })).toMatchObject({ create: [], selected: 0, left: [] });
  });

  test("do not include one of KubeElasti's private copy of a Service, though that has too long a name for the whole to be in it", () => {
    const web = service("web-".repeat(12) + "web");
    const copy = service(originalPrivateServiceName(web.metadata.name ?? ""), { selector: web.spec?.selector ?? {} });
    expect(copy.metadata.name).not.toContain(web.metadata.name);
    const { create } = plan({ services: [web, copy], workloads: [workload("web", web.metadata.name)] });
    expect(create).toMatchObject([{ spec: { service: web.metadata.name } }]);
  });

  test("do not include the resolver itself, through whichever Service", () => {
    const services = [service("web"), service("resolver"), service("dashboard", { selector: { app: "resolver" } })];
    const workloads = [workload("web"), workload("resolver")];
    const { create, left } = plan({ services, workloads, own: "resolver" });
    expect([create.map(({ metadata }) => metadata.name), left]).toEqual([["all-web"], []]);
  });

  test("do not include one of a Service that an ElastiService names by itself, valid or not", () => {
    for (const other of [named("mine", "web"), { ...named("mine", "web"), spec: { service: "web" } }])
      expect(plan({ objects: [parent, other] })).toMatchObject({ create: [], selected: 0, left: [] });
  });

  test("are removed when a user's ElastiService names their Service later", () => {
    const objects = [...carriedOut(), named("mine", "web")];
    expect(plan({ objects }).remove).toMatchObject([{ metadata: { name: "all-web" } }]);
  });

  test("belong to the older of two parents, whichever looks first", () => {
    const older = elastiService("zzz", { selector: {} }, { creationTimestamp: "2026-01-01T00:00:00Z" });
    const both = [parent, older];
    const made = carriedOut({ objects: both });
    expect(made).toHaveLength(3);
    const taken = carriedOut({ parent: older, objects: made });
    expect(taken.map(({ metadata }) => metadata.name)).toEqual(["all", "zzz", "all-web", "zzz-web"]);
    const settled = carriedOut({ objects: taken });
    expect(settled.map(({ metadata }) => metadata.name)).toEqual(["all", "zzz", "zzz-web"]);
    expect(plan({ objects: settled })).toMatchObject({ create: [], remove: [], selected: 0 });
    expect(plan({ parent: older, objects: settled })).toMatchObject({ create: [], remove: [], selected: 1 });
  });
});

describe("a Service is left out, and it is said why, when", () => {
  const why = (parts: Partial<SelectionInput>) => {
    const { create, left } = plan(parts);
    return [create.length, left];
  };

  test("it is headless", () => {
    expect(why({ services: [service("web", { clusterIP: "None" })] })).toEqual([
      0,
      [{ service: "web", why: expect.stringContaining("headless") }],
    ]);
  });

  test("it does not identify a workload", () => {
    expect(why({ workloads: [] })).toEqual([0, [{ service: "web", why: expect.stringContaining("selector") }]]);
  });

  test("another selected Service has the same workload", () => {
    const services = [service("web"), service("web-admin", { selector: { app: "web" } }), service("api")];
    expect(why({ services, workloads: [workload("web"), workload("api")] })).toEqual([
      1,
      [
        { service: "web", why: expect.stringMatching(/Deployment web .*Service web-admin/) },
        { service: "web-admin", why: expect.stringMatching(/Deployment web .*Service web/) },
      ],
    ]);
  });

  test("a user's ElastiService scales its workload", () => {
    expect(why({ objects: [parent, named("mine", "front", "web")] })).toEqual([
      0,
      [{ service: "web", why: expect.stringMatching(/ElastiService mine .*Deployment web/) }],
    ]);
  });

  test("a user's ElastiService has the child's name", () => {
    expect(why({ objects: [parent, named("all-web", "other", "other")] })).toEqual([
      0,
      [{ service: "web", why: expect.stringContaining("all-web") }],
    ]);
  });
});

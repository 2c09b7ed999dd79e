import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type HttpRoute, httpRoutes, type KubeClient, kubeErrors, type Resource } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";
import { type HttpRoutes, httpRouteTarget } from "../src/targets/http-route-target.ts";

const CRD = readFileSync(join(import.meta.dirname, "fixtures/httproutes.yaml"), "utf8");

/** A definition that gives no weight to a backend that has none, as somebody's own might. */
const CRD_WITHOUT_DEFAULT = CRD.replace(/^\s+default: 1\n/m, "");

/** What a service with the rights of its chart may do: get and patch. */
const RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: routes }
rules: [{ apiGroups: [gateway.networking.k8s.io], resources: [httproutes], verbs: [get, patch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: routes }
subjects: [{ kind: User, name: rebalancer, apiGroup: rbac.authorization.k8s.io }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: routes }
`;

const USERS = [
  { name: "admin", groups: ["system:masters"], token: "admin" },
  { name: "rebalancer", token: "rebalancer" },
];

const ROUTE = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop, namespace: default }
spec:
  hostnames: [shop.example.com]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /assets } }]
      backendRefs: [{ name: assets, port: 80 }]
    - backendRefs:
        - { name: base, port: 80, weight: 8 }
        - { name: burst, port: 8080, weight: 2, filters: [{ type: RequestHeaderModifier, requestHeaderModifier: { remove: [x-a] } }] }
`;

/** Resolves when the server serves the type. */
async function established(type: Resource<HttpRoute>): Promise<void> {
  await eventually(() => type.list());
}

const never = new AbortController().signal;
const lastLook = () => undefined;

describe("a backend of an HTTPRoute", () => {
  let folder: string;
  let server: ApiServer;
  let kube: KubeClient;
  let admin: KubeClient;
  let routes: Resource<HttpRoute>;
  let owner: Resource<HttpRoute>;

  const connect = (token: string): KubeClient => {
    const kubeconfig = join(folder, token);
    writeFileSync(kubeconfig, kubeconfigFor(server.url, { token }));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    return connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
  };

  const begin = async (crd: string) => {
    folder = mkdtempSync(join(tmpdir(), "evenkeel-routes-"));
    server = await startApiServer({ users: USERS });
    server.load(crd);
    server.load(RIGHTS);
    kube = connect("rebalancer");
    admin = connect("admin");
    routes = kube.resource(httpRoutes);
    owner = admin.resource(httpRoutes);
    await established(owner);
    server.load(ROUTE);
  };

  beforeEach(() => begin(CRD));
  const end = async () => {
    await kube.stop();
    await admin.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  };
  afterEach(end);

  const target = (backend = "burst", rule = 1, from: HttpRoutes = routes) =>
    httpRouteTarget(from, "default", { name: "shop", rule, backend });
  const write = (weight: number, on = target()) => on.write(weight, { signal: never, lastLook });
  const shop = () => owner.get({ namespace: "default", name: "shop" });
  const weights = async () => (await shop()).spec?.rules?.[1]?.backendRefs?.map(({ weight }) => weight);
  const setWeight = (index: number, value: number) => {
    const path = `/spec/rules/1/backendRefs/${index}/weight`;
    return owner.patch(
      { namespace: "default", name: "shop" },
      { type: "json", operations: [{ op: "replace", path, value }] },
    );
  };
  /** Routes on which `before` runs just before each patch, as somebody else's write would. */
  const contended = (before: (patch: number) => Promise<unknown>): HttpRoutes & { readonly patches: number } => {
    const state = { patches: 0 };
    return {
      get patches() {
        return state.patches;
      },
      get: (...call) => routes.get(...call),
      patch: async (...call) => {
        await before(++state.patches);
        return routes.patch(...call);
      },
    };
  };

  test("is read with what shares its load", async () => {
    expect(await target().read({ signal: never, maxAge: 0 })).toEqual({
      weight: 2,
      others: [{ name: "base", weight: 8 }],
      timeToLive: 0,
      pending: false,
    });
  });

  test("has a name, and takes a million", () => {
    expect(target().name).toBe("httproute default/shop rule 1 burst");
    expect(target().range).toEqual({ minimum: 0, maximum: 1_000_000 });
  });

  test("gets its weight, and nothing else of the route changes", async () => {
    const before = await shop();
    await write(16);
    expect(await weights()).toEqual([8, 16]);
    const after = await shop();
    const [first, second] = [before.spec, after.spec].map((spec) =>
      JSON.stringify(spec).replace('"weight":16', '"weight":2'),
    );
    expect(second).toBe(first);
  });

  test("is not written when the weight is there already", async () => {
    const before = await shop();
    await write(2);
    expect((await shop()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test("counts as 1 where no weight is given, and takes one then", async () => {
    await end();
    await begin(CRD_WITHOUT_DEFAULT);
    const assets = target("assets", 0);
    expect(await assets.read({ signal: never, maxAge: 0 })).toMatchObject({ weight: 1, others: [] });
    await write(1, assets);
    expect((await shop()).spec?.rules?.[0]?.backendRefs?.[0]).not.toHaveProperty("weight");
    await write(5, assets);
    expect((await shop()).spec?.rules?.[0]?.backendRefs?.[0]).toMatchObject({ name: "assets", weight: 5 });
  });

  test("is not written over a weight that came where there was none", async () => {
    await end();
    await begin(CRD_WITHOUT_DEFAULT);
    const operations = [{ op: "add" as const, path: "/spec/rules/0/backendRefs/0/weight", value: 7 }];
    const busy = contended(async (patch) => {
      if (patch === 1) await owner.patch({ namespace: "default", name: "shop" }, { type: "json", operations });
    });
    await write(5, target("assets", 0, busy));
    expect(busy.patches).toBe(2);
    expect((await shop()).spec?.rules?.[0]?.backendRefs?.[0]).toMatchObject({ weight: 5 });
  });

  test.each([-1, 1_000_001, 0.5])("does not take %d", async (weight) => {
    await expect(write(weight)).rejects.toMatchObject({ code: "EK_WEIGHT_OUT_OF_RANGE" });
  });

  test("does not become 0 when the others are", async () => {
    await setWeight(0, 0);
    await expect(write(0)).rejects.toMatchObject({ code: "EK_WEIGHT_ALL_ZERO", recovery: "terminal" });
    expect(await weights()).toEqual([0, 2]);
  });

  test("does not become 0 when the others come to be so meanwhile", async () => {
    const busy = contended(() => setWeight(0, 0));
    await expect(write(0, target("burst", 1, busy))).rejects.toMatchObject({ code: "EK_WEIGHT_ALL_ZERO" });
    expect(await weights()).toEqual([0, 2]);
  });

  test("becomes 0 while another carries the load", async () => {
    await write(0);
    expect(await weights()).toEqual([8, 0]);
  });

  test("is read again and written when somebody else wrote it meanwhile", async () => {
    const busy = contended((patch) => (patch === 1 ? setWeight(1, 3) : Promise.resolve()));
    await write(16, target("burst", 1, busy));
    expect(busy.patches).toBe(2);
    expect(await weights()).toEqual([8, 16]);
  });

  test("keeps a weight of somebody else that the decision did not know", async () => {
    const busy = contended((patch) => (patch === 1 ? setWeight(1, 3) : Promise.resolve()));
    const expected = (await target("burst", 1).read({ signal: never, maxAge: 0 })).weight;
    const work = target("burst", 1, busy).write(16, { signal: never, lastLook, expected });
    await expect(work).rejects.toMatchObject({ code: "EK_WEIGHT_TARGET_CHANGED", recovery: "retryable" });
    expect(await weights()).toEqual([8, 3]);
  });

  test("is found again when somebody moved it to another place meanwhile", async () => {
    const value = [
      { name: "new", port: 80, weight: 1 },
      { name: "base", port: 80, weight: 8 },
      { name: "burst", port: 8080, weight: 2 },
    ];
    const operations = [{ op: "replace" as const, path: "/spec/rules/1/backendRefs", value }];
    const busy = contended(async (patch) => {
      if (patch === 1) await owner.patch({ namespace: "default", name: "shop" }, { type: "json", operations });
    });
    await write(16, target("burst", 1, busy));
    expect(await weights()).toEqual([1, 8, 16]);
  });

  test("is left to the next reconcile when another client writes the route all the time", async () => {
    const busy = contended((patch) => setWeight(1, 100 + patch));
    await expect(write(16, target("burst", 1, busy))).rejects.toMatchObject({
      code: "EK_WEIGHT_HTTP_ROUTE_CONTENDED",
      recovery: "retryable",
    });
    expect(busy.patches).toBe(5);
  });

  test("is not written when the last look finds that it is no longer wanted", async () => {
    const overtaken = () => {
      throw new kubeErrors.ActOvertaken({ object: "default/shop", why: "changed" });
    };
    const writing = target().write(16, { signal: never, lastLook: overtaken });
    await expect(writing).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
    expect(await weights()).toEqual([8, 2]);
  });

  test.each([
    ["elsewhere", 1, "burst", "EK_WEIGHT_NO_HTTP_ROUTE", "default/elsewhere"],
    ["shop", 2, "burst", "EK_WEIGHT_NO_HTTP_ROUTE_RULE", "0 to 1"],
    ["shop", 1, "brust", "EK_WEIGHT_NO_HTTP_ROUTE_BACKEND", "base, burst"],
  ])(
    "that is missing (%s, rule %d, %s) is a terminal error that says what exists",
    async (name, rule, backend, code, found) => {
      const missing = httpRouteTarget(routes, "default", { name, rule, backend });
      for (const call of [
        () => missing.read({ signal: never, maxAge: 0 }),
        () => missing.write(1, { signal: never, lastLook }),
      ]) {
        const work = call();
        await expect(work).rejects.toMatchObject({ code, recovery: "terminal" });
        await expect(work).rejects.toThrow(found);
      }
    },
  );

  test("that stands in its rule twice cannot be told from the other", async () => {
    const value = [
      { name: "burst", port: 80 },
      { name: "burst", port: 81 },
    ];
    const operations = [{ op: "replace" as const, path: "/spec/rules/1/backendRefs", value }];
    await owner.patch({ namespace: "default", name: "shop" }, { type: "json", operations });
    const reading = target().read({ signal: never, maxAge: 0 });
    await expect(reading).rejects.toMatchObject({ code: "EK_WEIGHT_NO_HTTP_ROUTE_BACKEND" });
  });

  test("that may not be read fails with the API server's own refusal", async () => {
    const denied = connect("nobody");
    try {
      const reading = target("burst", 1, denied.resource(httpRoutes)).read({ signal: never, maxAge: 0 });
      await expect(reading).rejects.toMatchObject({ code: "EK_KUBE_UNAUTHORIZED" });
    } finally {
      await denied.stop();
    }
  });
});

import {
  accountKubeconfig,
  apply,
  kubectl,
  list,
  requestsBy,
  TEST_TIMEOUT_MS,
  usedRights,
  useCluster,
  waitUntil,
} from "@evenkeel/e2e";
import { type ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { StoredRebalance } from "../src/rebalance-resource.ts";
import { type Attempt, nextSecond, type Tenant, TENANTS, Tenants, unmet } from "../test/tenants.ts";
import { CHART, namespaceOf, Site } from "./site.ts";

/** The rights of a tenant, in its namespace. */
const RULES = [
  { apiGroups: ["rebalancer.ch1aki.github.io"], resources: ["rebalances"], verbs: ["*"] },
  { apiGroups: ["gateway.networking.k8s.io"], resources: ["httproutes"], verbs: ["*"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["*"] },
];

describe("two tenants with rights in a namespace each", () => {
  const cluster = useCluster({ name: "weight-tenants", nodes: 0, audit: true });
  let site: Site;
  let tenants: Tenants;
  let service: ServiceProcess;
  const kubeconfigs = new Map<Tenant, string>();
  beforeAll(async () => {
    site = await Site.start(cluster());
    tenants = await Tenants.start(site);
    await apply(cluster(), ...TENANTS.flatMap((tenant) => [namespaceOf(tenant), ...accountOf(tenant)]));
    for (const tenant of TENANTS) {
      kubeconfigs.set(tenant, await accountKubeconfig(cluster(), tenant, "tenant"));
      await waitUntil(`the rights of ${tenant}`, async () => {
        const { stdout } = await cluster().kubectl(["auth", "can-i", "create", "secrets", "-n", tenant], as(tenant));
        return stdout.trim() === "yes" ? undefined : stdout;
      });
      await applyAs(tenant, [...tenants.belongings(tenant), tenants.squatter(tenant).rebalance]);
    }
    service = await site.serve("evenkeel-system", ...tenants.flags);
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await tenants[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  /** kubectl with the token of a tenant. */
  const as = (tenant: Tenant) => ({ kubeconfig: kubeconfigs.get(tenant) ?? "no kubeconfig" });
  const applyAs = (tenant: Tenant, objects: readonly object[]) => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    return kubectl(cluster(), ["apply", "-f", "-"], { input, ...as(tenant) });
  };
  const stored = () => list<StoredRebalance>(cluster(), "rebalances", "-A");
  const untilMet = (attempts: readonly Attempt[]) =>
    waitUntil("the conditions", async () => unmet(attempts, await stored())[0]);
  const untilWritten = () =>
    waitUntil("the weights", () => TENANTS.find((tenant) => tenants.weights(tenant)["burst"] !== 16));

  test(
    "have no rights in the other's namespace",
    async () => {
      for (const [tenant, other] of [
        ["anna", "boris"],
        ["boris", "anna"],
      ] as const) {
        const { stderr } = await cluster().kubectl(["get", "secrets,rebalances,httproutes", "-n", other], as(tenant));
        expect(stderr.match(/Forbidden/g)).toHaveLength(3);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "do not block each other's records by naming them first",
    async () => {
      await untilMet(TENANTS.map((tenant) => tenants.squatter(tenant)));
      await nextSecond();
      for (const tenant of TENANTS) await applyAs(tenant, [tenants.rebalance(tenant)]);
      await untilWritten();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "reach no Secret, record, route or metric server of each other by any field",
    async () => {
      await nextSecond();
      for (const tenant of TENANTS)
        await applyAs(
          tenant,
          tenants.attempts(tenant).map(({ rebalance }) => rebalance),
        );
      await untilMet(TENANTS.flatMap((tenant) => tenants.attempts(tenant)));
      expect(tenants.leaks).toEqual([]);
      expect((await stored()).filter(({ status }) => tenants.isSecret(JSON.stringify(status)))).toEqual([]);
      for (const tenant of TENANTS) expect(tenants.weights(tenant)).toEqual({ base: 8, burst: 16 });
      const weights = await kubectl(cluster(), ["get", "httproutes", "-A", "-o", "jsonpath={..backendRefs[*].weight}"]);
      expect(weights).toBe("1 1 1 1");
    },
    TEST_TIMEOUT_MS,
  );

  test("by the audit log, the service has the rights of its chart, was refused nothing, and read no Secret of another tenant", async () => {
    const { refused, allowedElsewhere } = await usedRights(cluster(), CHART);
    expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
    const read = requestsBy(cluster(), CHART).filter(({ right }) => right === "get secrets");
    expect(new Set(read.map(({ address }) => address))).toEqual(
      new Set(TENANTS.map((tenant) => `/api/v1/namespaces/${tenant}/secrets/aws`)),
    );
  });
});

/** A tenant's ServiceAccount and its rights. */
function accountOf(namespace: string): readonly object[] {
  const metadata = { namespace, name: "tenant" };
  const apiGroup = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${apiGroup}/v1`, kind: "Role", metadata, rules: RULES },
    {
      ...{ apiVersion: `${apiGroup}/v1`, kind: "RoleBinding", metadata },
      roleRef: { apiGroup, kind: "Role", name: "tenant" },
      subjects: [{ kind: "ServiceAccount", namespace, name: "tenant" }],
    },
  ];
}

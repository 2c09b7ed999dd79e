import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { secrets } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { ACCESS_KEY_AUTH, accessKeySecret, type Prometheus, startPrometheus } from "@evenkeel/sim";
import { rebalances } from "../src/rebalance-resource.ts";
import { WatchedService } from "./watched-service.ts";
import { QUERY, World } from "./world.ts";

const SECRET = { name: "token", namespace: "anna", key: "value" };
const KEYS = ["accessKeyIDSecretRef", "secretAccessKeySecretRef", "sessionTokenSecretRef"] as const;

/** What a tenant's Rebalance may have instead of its own parts. */
interface Attempt {
  readonly target?: object;
  readonly prometheus?: object;
}

describe("a tenant in a namespace of its own", () => {
  let world: World;
  let service: WatchedService;
  /** A server that belongs to the other tenant: nothing may arrive there. */
  let other: Prometheus;
  const arrived: string[] = [];
  beforeAll(async () => {
    world = await World.start();
    other = await startPrometheus();
    other.faults.add({
      fault: { kind: "reset" },
      when: ({ url = "" }) => {
        arrived.push(url);
        return false;
      },
    });
    for (const namespace of ["anna", "boris"]) {
      world.api.load(`{apiVersion: v1, kind: Namespace, metadata: {name: ${namespace}}}`);
      await world.kube.resource(secrets).create(accessKeySecret(namespace));
    }
    const value = Buffer.from("anna's token").toString("base64");
    await world.kube.resource(secrets).create({ metadata: { namespace: "anna", name: "token" }, data: { value } });
    await create("anna", "checkout", {});
    // The shared Prometheus goes by its name, the other tenant's by its address: only the former is listed.
    const flags = ["--prometheus-allow=localhost", "--allow-ambient-credentials=anna"];
    service = new WatchedService(world, flags);
    await eventually(() => expect(world.weight()).toBe(16));
  }, 60_000);
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await other.stop();
    await world[Symbol.asyncDispose]();
  });

  const create = async (namespace: string, name: string, { target, prometheus }: Attempt) => {
    const spec = world.spec(namespace === "anna" ? "blue" : "base");
    const metrics = {
      prometheus: { address: world.prometheus.url.replace("127.0.0.1", "localhost"), query: QUERY, ...prometheus },
    };
    const object = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata: { namespace, name } };
    await world.kube.resource(rebalances).create({ ...object, spec: { ...spec, metrics, ...(target && { target }) } });
  };
  const record = (identifier: string, more: object = {}) => ({
    route53: {
      hostedZoneID: "Z1",
      endpoint: world.route53.url,
      resource: { name: "www.example.com", type: "A", identifier },
      auth: ACCESS_KEY_AUTH,
      ...more,
    },
  });
  const foreign = (field: (typeof KEYS)[number]) => ({
    auth: { secretRef: { ...ACCESS_KEY_AUTH.secretRef, [field]: SECRET } },
  });
  test.each<[string, () => Attempt, string, string]>([
    ...KEYS.map((field): [string, () => Attempt, string, string] => [
      `target.route53.auth.secretRef.${field}`,
      () => ({ target: record("base", foreign(field)) }),
      "TargetSynced",
      "SecretElsewhere",
    ]),
    [
      "no auth",
      () => ({ target: record("base", { auth: undefined, endpoint: undefined }) }),
      "TargetSynced",
      "Route53AmbientDenied",
    ],
    [
      "an endpoint without auth",
      () => ({ target: record("base", { auth: undefined }) }),
      "TargetSynced",
      "Route53AmbientDenied",
    ],
    [
      "a role without auth",
      () => ({
        target: record("base", {
          endpoint: undefined,
          auth: { assumeRole: { roleARN: "arn:aws:iam::123456789012:role/anna" } },
        }),
      }),
      "TargetSynced",
      "Route53AmbientDenied",
    ],
    ["the record of the other", () => ({ target: record("blue") }), "Ready", "Conflict"],
    [
      "a route of the other",
      () => ({ target: { httpRoute: { name: "anna/shop", rule: 0, backend: "burst" } } }),
      "TargetSynced",
      "KubeBadName",
    ],
    ["metrics.prometheus.address", () => ({ prometheus: { address: other.url } }), "MetricsAvailable", "QueryFailed"],
    [
      "metrics.prometheus.auth.bearerSecretRef",
      () => ({ prometheus: { auth: { bearerSecretRef: SECRET } } }),
      "MetricsAvailable",
      "QueryFailed",
    ],
    [
      "metrics.prometheus.auth.secretRef",
      () => ({ prometheus: { auth: { secretRef: { userSecretRef: SECRET, passwordSecretRef: SECRET } } } }),
      "MetricsAvailable",
      "QueryFailed",
    ],
    [
      "metrics.prometheus.headers",
      () => ({ prometheus: { headers: [{ name: "x-token", valueSecretRef: SECRET }] } }),
      "MetricsAvailable",
      "QueryFailed",
    ],
    [
      "metrics.prometheus.tls",
      () => ({ prometheus: { tls: { caSecretRef: SECRET } } }),
      "MetricsAvailable",
      "QueryFailed",
    ],
  ])("reaches nothing of another tenant by %s", async (what, attempt, type, reason) => {
    const name = what.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
    await create("boris", name, attempt());
    const at = { namespace: "boris", name };
    await eventually(async () => {
      const { status } = await world.kube.resource(rebalances).get(at);
      expect(status?.conditions?.find((each) => each.type === type)).toMatchObject({ status: "False", reason });
      expect(JSON.stringify(status)).not.toContain("anna's token");
    });
    await world.kube.resource(rebalances).delete(at);
    expect(arrived).toEqual([]);
    expect(world.weight()).toBe(16);
  });
});

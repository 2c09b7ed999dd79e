import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { httpRoutes } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { rebalances } from "../src/rebalance-resource.ts";
import { type Attempt, nextSecond, TENANTS, Tenants, unmet } from "./tenants.ts";
import { WatchedService } from "./watched-service.ts";
import { World } from "./world.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CRD = "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml";

/** Fields with a text of any kind by which nothing of a tenant is reached. */
const HARMLESS: readonly RegExp[] = [
  // Times and periods.
  /^interval$|^policy\.|\.maxAge$/,
  // Requests to every region have the tenant's own key. AWS asks for it before it reads the rest of a role.
  /\.route53\.region$|\.assumeRole\.(externalID|sessionName)$/,
  // For the server that the tenant may ask, and expected in its certificate.
  /\.prometheus\.query$|\.tls\.serverName$/,
];

describe("two tenants with a namespace each", () => {
  let world: World;
  let tenants: Tenants;
  let service: WatchedService;
  beforeAll(async () => {
    world = await World.start();
    tenants = await Tenants.start(world);
    world.api.load(readFileSync(join(import.meta.dirname, "fixtures/httproutes.yaml"), "utf8"));
    await eventually(() => world.kube.resource(httpRoutes).list());
    for (const tenant of TENANTS) {
      load({ apiVersion: "v1", kind: "Namespace", metadata: { name: tenant } });
      load(...tenants.belongings(tenant));
    }
    service = new WatchedService(world, tenants.flags);
  }, 60_000);
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await tenants[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  const load = (...objects: readonly object[]) => {
    for (const object of objects) world.api.load(JSON.stringify(object));
  };
  const stored = async () => (await world.kube.resource(rebalances).list()).items;
  const untilMet = (attempts: readonly Attempt[]) =>
    eventually(async () => expect(unmet(attempts, await stored())).toEqual([]));

  test("do not block each other's records by naming them first", async () => {
    const squatters = TENANTS.map((tenant) => tenants.squatter(tenant));
    load(...squatters.map(({ rebalance }) => rebalance));
    await untilMet(squatters);
    await nextSecond();
    load(...TENANTS.map((tenant) => tenants.rebalance(tenant)));
    for (const tenant of TENANTS)
      await eventually(() => expect(tenants.weights(tenant)).toEqual({ base: 8, burst: 16 }));
  });

  test("reach nothing of each other by any field", async () => {
    await nextSecond();
    const attempts = TENANTS.flatMap((tenant) => tenants.attempts(tenant));
    load(...attempts.map(({ rebalance }) => rebalance));
    await untilMet(attempts);
    expect(tenants.leaks).toEqual([]);
    expect((await stored()).filter(({ status }) => tenants.isSecret(JSON.stringify(status)))).toEqual([]);
    for (const tenant of TENANTS) expect(tenants.weights(tenant)).toEqual({ base: 8, burst: 16 });
  });

  test("have no other field that names something: each is tried, or harmless", () => {
    const tried = new Set(tenants.attempts("anna").flatMap(({ fields }) => fields));
    const definition = parse(readFileSync(join(ROOT, CRD), "utf8")) as Definition;
    const spec = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"] ?? {};
    const named = textFields(spec).map((field) =>
      field.replace(/^targets\[\]/, "target").replace(/^metricSources\[\]/, "metrics"),
    );
    expect(named).toContain("target.route53.hostedZoneID");
    expect(named.filter((field) => !tried.has(field) && !HARMLESS.some((each) => each.test(field)))).toEqual([]);
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Paths of the fields that hold any text. A reference to a Secret counts as one. */
function textFields({ type, enum: values, properties = {}, items }: Schema, path = ""): readonly string[] {
  if (items) return textFields(items, `${path}[]`);
  if (type === "string") return values ? [] : [path];
  if (path.endsWith("SecretRef") && properties["namespace"]) return [path];
  return Object.entries(properties).flatMap(([name, field]) =>
    textFields(field, path === "" ? name : `${path}.${name}`),
  );
}

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { pods } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { elastiServices, FINALIZER, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** The resolver's slices of a Service: names, uids and versions. */
async function slicesOf(service: string) {
  const slices = await world.resolverSlices(service);
  return slices.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }));
}

/** A second ElastiService of a Service, as left by KubeElasti, with its finalizer. */
async function second(name: string, { spec }: StoredElastiService, status: object = {}): Promise<void> {
  const metadata = { namespace: "default", name, finalizers: [FINALIZER] };
  const resource = world.kube.resource(elastiServices);
  await resource.create({ metadata, spec });
  await resource.status.patch(metadata, { type: "merge", body: { status } });
  await world.ready(name, "Conflict");
}

test.concurrent(
  "an ElastiService that is the second of a Service that sleeps is deleted without a change in the path of the first",
  async () => {
    const object = await world.asleep("shop");
    await second("shop-too", object);
    const before = await slicesOf("shop");
    expect(before).toHaveLength(1);
    await world.delete("shop-too");
    await world.isGone("shop-too");
    expect(await slicesOf("shop")).toEqual(before);
    expect(await world.replicas("shop")).toBe(0);
    expect((await world.ask("shop")).status).toBe(200);
  },
);

test.concurrent(
  "an ElastiService that is the second of a Service that sleeps gets another Service without a change in the path of the first",
  async () => {
    const object = await world.asleep("cart");
    const { service, scaleTargetRef } = object.spec as Readonly<Record<string, unknown>>;
    // It managed the Service before the first did.
    await second("cart-too", object, { service, scaleTargetRef, state: "Zero", mode: "proxy" });
    const before = await slicesOf("cart");
    await world.workload("cellar");
    await world.edit("cart-too", { service: "cellar", scaleTargetRef: { name: "cellar" }, triggers: null });
    await eventually(async () => expect((await world.get("cart-too")).status?.service).toBe("cellar"));
    await world.inState("cart-too", "Serve");
    expect(await slicesOf("cart")).toEqual(before);
    expect(await world.replicas("cart")).toBe(0);
    expect((await world.ask("cart")).status).toBe(200);
  },
);

test.concurrent(
  "an ElastiService whose workload sleeps is released in a dry run after a wake, and what was never redirected stays as it is",
  async () => {
    await using world = await World.start();
    const service = world.serve();
    await Promise.all(["deleted", "pointed"].map((name) => world.asleep(name)));
    service.signal("SIGTERM");
    await service.exit;
    await world.workload("cellar", 0);
    await world.workload("other");
    world.serve(["--dry-run"]);
    await world.elasti("cellar");
    await world.ready("deleted", "Asleep");
    await world.ready("cellar", "NothingServes");
    for (const name of ["deleted", "cellar"]) await world.delete(name);
    // Another one is pointed at another Service.
    await world.edit("pointed", { service: "other", scaleTargetRef: { name: "other" } });
    for (const name of ["deleted", "cellar"]) await world.isGone(name);
    expect([await world.replicas("deleted"), await world.replicas("cellar")]).toEqual([1, 0]);
    await world.isScaledTo("pointed", 1);
    for (const name of ["deleted", "cellar", "pointed"]) await world.isRestored(name);
    await eventually(async () => expect((await world.get("pointed")).status?.service).toBe("other"));
    for (const name of ["deleted", "pointed"]) expect((await world.ask(name)).status).toBe(200);
  },
);

const templates = readFileSync(join(import.meta.dirname, "../../../charts/lib/templates/_uninstall.tpl"), "utf8");

/** The text of a template that has no parts of its own. */
function template(name: string): string {
  const [, text] = templates.split(`{{- define "evenkeel-lib.${name}" -}}`);
  if (text === undefined) throw new Error(`there is no template ${name}`);
  return text.slice(0, text.indexOf("{{- end }}"));
}

const LABELS = { "app.kubernetes.io/name": "scale-resolver" };

/** Runs the script of a Job of the chart as its pod would. The embedded API server has no TLS. */
async function run(world: World, job: "release" | "cleanup"): Promise<string> {
  const script = `${template("uninstallCalls")}\n${template(`${job}Script`)}`.replace("`https://", "`http://");
  const { hostname, port } = new URL(world.api.url);
  const token = join(world.folder, "token");
  writeFileSync(token, "secret");
  const [group, version] = ["elasti.truefoundry.com", "v1alpha1"];
  const names = { finalizer: `${group}/finalizer`, release: "evenkeel.io/release" };
  const env = {
    ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, TOKEN_FILE: token },
    ...{ NAMESPACE: "default", LEASE: "scale-resolver", WATCHED: "", PODS: "app.kubernetes.io/name=scale-resolver" },
    FINALIZERS: JSON.stringify([{ group, version, resource: "elastiservices", ...names }]),
  };
  const options = { env, timeout: 60_000 };
  return (await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], options)).stdout;
}

test.concurrent(
  "an uninstall wakes what sleeps, restores the path and releases every object, and a later install manages them again",
  async () => {
    await using world = await World.start();
    await world.workload("warm");
    // Stands for the service's own pod, which runs elsewhere here.
    await world.kube.resource(pods).create({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "resolver", labels: LABELS } },
      spec: { containers: [{ name: "main", image: "scale-resolver" }] },
    });
    const service = world.serve();
    await world.elasti("warm", { triggers: undefined });
    await world.asleep("shop");
    await world.inState("warm", "Serve");

    expect(await run(world, "release")).toBe("");
    expect(await world.replicas("shop")).toBe(1);
    expect([...(await world.ownSlices("shop")), ...(await world.ownSlices("warm"))]).toEqual([]);
    expect((await world.ask("shop")).status).toBe(200);
    for (const name of ["shop", "warm"]) {
      const { finalizers, annotations } = (await world.get(name)).metadata;
      expect([finalizers ?? [], annotations]).toEqual([[], { "evenkeel.io/release": "true" }]);
    }
    const { state, conditions = [] } = (await world.get("shop")).status ?? {};
    expect(state).toBeUndefined();
    expect(conditions.slice(0, 2)).toMatchObject([
      { type: "Ready", status: "False", reason: "Released" },
      { type: "Asleep", status: "False", reason: "Released" },
    ]);

    service.signal("SIGTERM");
    await service.exit;
    await world.kube.resource(pods).delete({ namespace: "default", name: "resolver" });
    await run(world, "cleanup");
    expect((await world.get("shop")).metadata.annotations ?? {}).toEqual({});
    world.serve();
    await world.inState("shop", "Zero");
  },
);

test.concurrent(
  "without a replica that would release objects, the uninstall does not wait, and removes the finalizers itself",
  async () => {
    await using world = await World.start();
    await world.workload("shop");
    const service = world.serve();
    await world.elasti("shop");
    await eventually(async () => expect((await world.get("shop")).metadata.finalizers).toHaveLength(1));
    service.signal("SIGKILL");
    await service.exit;
    expect(await run(world, "release")).toContain("default/shop");
    expect(await run(world, "cleanup")).toContain("default/shop");
    const { finalizers = [], annotations = {} } = (await world.get("shop")).metadata;
    expect([finalizers, annotations]).toEqual([[], {}]);
    await world.delete("shop");
    await world.isGone("shop");
  },
);

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { endpointSlices, pods } from "@evenkeel/kube";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

const templates = readFileSync(join(import.meta.dirname, "../../../charts/lib/templates/_let-go.tpl"), "utf8");

/** The text of a template that has no parts of its own. */
function template(name: string): string {
  const [, text] = templates.split(`{{- define "evenkeel-lib.${name}" -}}`);
  if (text === undefined) throw new Error(`there is no template ${name}`);
  return text.slice(0, text.indexOf("{{- end }}"));
}

const LABELS = { "app.kubernetes.io/name": "scale-resolver" };

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 8 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Runs the script of a Job of the chart as its pod would. The embedded API server speaks no TLS. */
async function run(job: "release" | "let-go"): Promise<string> {
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

/** What stands for the service's own pod, which runs elsewhere here. */
async function ownPod(): Promise<void> {
  await world.kube.resource(pods).create({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "resolver", labels: LABELS } },
    spec: { containers: [{ name: "main", image: "scale-resolver" }] },
  });
}

async function ownSlices(): Promise<number> {
  const labelSelector = "endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
  return (await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items.length;
}

test("an uninstall wakes what sleeps, leaves the path and lets every object go, and a later install takes them up again", async () => {
  await world.workload("shop");
  await world.workload("warm");
  await ownPod();
  const service = world.serve();
  await world.elasti("shop");
  await world.elasti("warm", { triggers: undefined });
  world.metric = 0;
  await world.inState("shop", "Zero");
  await world.inState("warm", "Serve");

  expect(await run("release")).toBe("");
  expect(await world.replicas("shop")).toBe(1);
  expect(await ownSlices()).toBe(0);
  expect((await world.ask("shop")).status).toBe(200);
  for (const name of ["shop", "warm"]) {
    const { finalizers, annotations } = (await world.get(name)).metadata;
    expect([finalizers ?? [], annotations]).toEqual([[], { "evenkeel.io/release": "true" }]);
  }

  service.signal("SIGTERM");
  await service.exit;
  await world.kube.resource(pods).delete({ namespace: "default", name: "resolver" });
  await run("let-go");
  expect((await world.get("shop")).metadata.annotations ?? {}).toEqual({});
  world.serve();
  await world.inState("shop", "Zero");
}, 90_000);

test("where nobody is left who would let objects go, the uninstall does not wait, and takes the finalizers off itself", async () => {
  await world.workload("shop");
  const service = world.serve();
  await world.elasti("shop");
  await eventually(async () => expect((await world.get("shop")).metadata.finalizers).toHaveLength(1));
  service.signal("SIGKILL");
  await service.exit;
  expect(await run("release")).toBe("elastiservices default/shop is not let go: nobody is there who would\n");
  expect(await run("let-go")).toBe("elastiservices default/shop is let go: elasti.truefoundry.com/finalizer is off\n");
  const { finalizers = [], annotations = {} } = (await world.get("shop")).metadata;
  expect([finalizers, annotations]).toEqual([[], {}]);
  await world.kube.resource(elastiServices).delete({ namespace: "default", name: "shop" });
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  expect(items).toEqual([]);
}, 60_000);

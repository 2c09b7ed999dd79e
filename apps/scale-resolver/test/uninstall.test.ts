import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { pods } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, jest, test } from "@jest/globals";
import { World } from "./world.ts";

jest.setTimeout(60_000);

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
    expect(await world.resolverSlices("shop")).toEqual([]);
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

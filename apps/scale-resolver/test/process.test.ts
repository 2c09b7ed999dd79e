import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceProcess } from "@evenkeel/e2e";
import { startApiServer } from "@evenkeel/sim";
import { expect, test } from "@jest/globals";

/** What the image holds; `nx run scale-resolver:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

test("leads, decides and says why, and stops when it is told to", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scale-resolver-"));
  const api = await startApiServer({ users: [{ name: "admin", groups: ["system:masters"], token: "secret" }] });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(api.url));
  const flags = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
  try {
    await using service = ServiceProcess.start(main, flags);
    expect((await fetch(await service.url("health", "/readyz"))).status).toBe(200);
    expect(await service.line(({ decision }) => decision !== undefined)).toMatchObject({ reason: "NoData" });
    const list = await fetch(await service.url("admin", "/api/v1/Decisions/List"));
    expect(await list.json()).toMatchObject({ decisions: [{ action: "hold", reason: "NoData" }] });
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
  } finally {
    await api.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "sim", cluster: { server } }],
    users: [{ name: "admin", user: { token: "secret" } }],
    contexts: [{ name: "sim", context: { cluster: "sim", user: "admin" } }],
    "current-context": "sim",
  });
}

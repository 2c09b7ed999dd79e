import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, deployments } from "@evenkeel/kube";
import { fleet, harbourKubeconfig, startHarbour } from "./harbour.ts";
import { replicasAt, tideLevel } from "./tide.ts";

const usage = `Usage: make demo [PORT=8080]

Runs a small busy cluster in this process, and on it the fixture service, until Ctrl-C.
`;

const [port = "8080"] = process.argv.slice(2);
if (!/^\d+$/.test(port)) {
  console.error(usage);
  process.exit(port === "--help" ? 0 : 2);
}

const folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-"));
const kubeconfig = join(folder, "kubeconfig");
const levelFile = join(folder, "level");
const harbour = await startHarbour();
writeFileSync(kubeconfig, harbourKubeconfig(harbour.url), { mode: 0o600 });

const settings = { kubeContext: undefined, kubeDeadline: 5000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
const kube = connectKube({ settings: { ...settings, kubeconfig }, env: {}, userAgent: "demo" });
const started = performance.now();

/** What the world does by itself: the tide moves, and the Deployments' load with it. */
async function move(): Promise<void> {
  const seconds = (performance.now() - started) / 1000;
  writeFileSync(levelFile, `${tideLevel(seconds)}\n`);
  for (const [index, [name, replicas]] of fleet.entries()) {
    const body = { spec: { replicas: replicasAt(seconds, index, replicas) } };
    await kube.resource(deployments).scale.patch({ namespace: "default", name }, { type: "merge", body });
  }
}
await move();
const tide = setInterval(() => {
  move().catch((error: unknown) => console.error("the tide stands still:", error));
}, 3000);

const ballastMain = join(import.meta.dirname, "../../ballast/src/main-on-kube.ts");
const flags = {
  kubeconfig,
  "level-file": levelFile,
  "listen-host": "127.0.0.1",
  "admin-port": port,
  "health-port": "0",
  port: "0",
  "shutdown-delay": "0",
};
const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
const ballast = spawn(process.execPath, [ballastMain, ...args], {
  stdio: ["ignore", "inherit", "inherit"],
  // A group of its own: the terminal's Ctrl-C reaches this process alone, which passes it on once. Twice would mean "at once".
  detached: true,
});

console.log(`A cluster of four nodes runs in this process. Try it in another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes,deployments,pods
  kubectl get pods --watch
  kubectl get events.events.k8s.io

Decisions follow as JSON lines. The page of health, settings and decisions: http://127.0.0.1:${port}/
Ctrl-C stops all of it.
`);

const stop = () => ballast.kill("SIGTERM");
process.on("SIGINT", stop).on("SIGTERM", stop);
const [code] = (await once(ballast, "close")) as [number | null];
clearInterval(tide);
await kube.stop();
await harbour.stop();
rmSync(folder, { recursive: true, force: true });
process.exitCode = code ?? 1;

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube } from "@evenkeel/kube";
import { Cast } from "./cast.ts";
import { Front } from "./front.ts";
import { harbourKubeconfig, startHarbour } from "./harbour.ts";
import { loadStories } from "./stories.ts";

const usage = `Usage: make demo [PORT=8080] [ARGS=--once]

Runs an embedded world in this process, the services on it as processes of their own, and shows both on one page until Ctrl-C.
With --once the story runs at speed without a page; it exits 0 if everything came out, and 1 if not.
`;

const words = process.argv.slice(2);
const once = words.includes("--once");
const [port = "8080", ...rest] = words.filter((word) => word !== "--once");
if (!/^\d+$/.test(port) || rest.length > 0) {
  console.error(usage);
  process.exit(port === "--help" ? 0 : 2);
}

const token = randomUUID();
const front = new Front(token);
const url = once ? "" : await front.listen(Number(port)).catch(refuse);

/** Ends the process with one line. */
function refuse(error: NodeJS.ErrnoException): never {
  const taken = `port ${port} is in use: choose another one, such as make demo PORT=${Number(port) + 1}`;
  console.error(error.code === "EADDRINUSE" ? taken : String(error));
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-"));
const kubeconfig = join(folder, "kubeconfig");
const harbour = await startHarbour(token);
writeFileSync(kubeconfig, harbourKubeconfig(harbour.url), { mode: 0o600 });
const settings = { kubeContext: undefined, kubeDeadline: 5000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
const kube = connectKube({ settings: { ...settings, kubeconfig }, env: {}, userAgent: "demo" });

function tell(line: string): void {
  const told = `${new Date().toLocaleTimeString("en-GB")}  ${line}`;
  console.log(told);
  front.tell(told);
}

const stopping = Promise.withResolvers<undefined>();
const stop = () => stopping.resolve(undefined);
process.on("SIGINT", stop).on("SIGTERM", stop);

const cast = new Cast({ kube, harbour, kubeconfig, tell, stories: await loadStories() });
let failed = false;
try {
  if (once) {
    failed = !(await Promise.race([cast.rehearse(), stopping.promise.then(() => false)]));
  } else {
    for (const actor of await cast.enter()) front.add(actor);
    cast.play();
    console.log(`
Everything is on one page:  ${url}

The cluster runs in this process. Try it in another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get rebalances --watch
  kubectl get elastiservices --watch
  kubectl get events.events.k8s.io

Ctrl-C stops all of it.
`);
    await Promise.race([stopping.promise, cast.ended()]);
  }
} catch (error) {
  console.error(`the demo broke off: ${String(error)}`);
  failed = true;
} finally {
  front.close();
  await cast.leave();
  await kube.stop();
  await harbour.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

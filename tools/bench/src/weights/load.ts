import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectKube, secrets } from "@evenkeel/kube";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type RecordSet,
  startApiServer,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import { ADMIN, definitionOf, kubeconfigFor, ServiceProcess } from "@evenkeel/testkit";
import { rebalances } from "@evenkeel/weight-rebalancer";

const root = join(import.meta.dirname, "../../../..");
/** As the image starts Node; see infra/docker/Dockerfile. */
const IMAGE_FLAGS = ["--optimize-for-size", "--max-semi-space-size=1", "--v8-pool-size=1"];
const QUERY = "sum(requests)";

export interface LoadOptions {
  readonly rebalances: number;
  readonly zones: number;
  /** Milliseconds between two reconciles of a Rebalance. */
  readonly interval: number;
}

export interface Load {
  /** Calls to Route 53 in one interval in which nothing changes. */
  readonly steadyCalls: number;
  /** The same in one in which every weight changes. */
  readonly changingCalls: number;
  /** Milliseconds from the reconcile that sees a change to the last record that has it. */
  readonly written: number;
  /** Milliseconds from the moment that a reconcile is due to its decision, one for each Rebalance. */
  readonly decided: readonly number[];
  /** Bytes, when all of this has been done. */
  readonly rss: number;
}

/** Runs the bundled service against an embedded world of many Rebalances, and lets every weight change once. */
export async function measureLoad(options: LoadOptions, progress: (line: string) => void): Promise<Load> {
  const { interval, zones } = options;
  const bundled = spawnSync("nx", ["run", "weight-rebalancer:bundle"], { cwd: root, encoding: "utf8" });
  if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-load-"));
  const api = await startApiServer({ users: [ADMIN] });
  const [route53, prometheus] = [await startRoute53({ propagation: 1000 }), await startPrometheus()];
  let metric = 3000;
  prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: metric }] }));
  api.load(definitionOf("rebalances"));
  const names = Array.from({ length: options.rebalances / zones }, (_empty, index) => `site-${index}.example.com`);
  const ids = Array.from({ length: zones }, (_empty, index) => `Z${index}`);
  for (const id of ids) route53.addZone(id, "example.com", names.flatMap(twoSites));

  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigFor(api.url));
  const settings = {
    kubeconfig,
    kubeContext: undefined,
    kubeDeadline: 5000,
    kubeConnections: 4,
    kubeQps: 0,
    kubeBurst: 1,
  };
  const kube = connectKube({ settings, env: {}, userAgent: "bench" });
  const where = { region: "us-east-1", endpoint: route53.url, auth: ACCESS_KEY_AUTH };
  await kube.resource(secrets).create(accessKeySecret("default"));
  for (const zone of ids) {
    for (const [index, name] of names.entries()) {
      const resource = { name, type: "A", identifier: "blue" };
      await kube.resource(rebalances).create({
        apiVersion: "rebalancer.ch1aki.github.io/v1",
        kind: "Rebalance",
        metadata: { namespace: "default", name: `${zone.toLowerCase()}-${index}` },
        spec: {
          interval: `${interval / 1000}s`,
          policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
          target: { route53: { ...where, hostedZoneID: zone, resource } },
          metrics: { prometheus: { address: prometheus.url, query: QUERY } },
        },
      });
    }
  }

  const decided: number[] = [];
  let due = Infinity;
  const flags = [`--kubeconfig=${kubeconfig}`, "--state=sqlite::memory:", "--insecure", "--grpc-port=0"];
  const service = ServiceProcess.start(join(root, "apps/weight-rebalancer/dist/main.mjs"), flags, {
    env: { ...process.env, MALLOC_ARENA_MAX: "1" },
    nodeFlags: IMAGE_FLAGS,
    onLine: ({ decision, action }) => {
      if (decision !== undefined && action === "lower") decided.push(Date.now() - due);
    },
  });
  const weights = () =>
    ids.flatMap((id) =>
      route53
        .records(id)
        .filter(isBlue)
        .map(({ weight }) => weight),
    );
  const allAre = async (weight: number) => {
    const end = Date.now() + 10 * interval;
    while (weights().some((each) => each !== weight)) {
      if (Date.now() > end) throw new Error(`not every record came to ${weight}: ${service.lines.length} lines of log`);
      await sleep(20);
    }
    return Date.now();
  };
  const calls = async () => {
    const scrape = await (await fetch(await service.url("admin", "/metrics"))).text();
    const lines = scrape.split("\n").filter((line) => line.startsWith("rebalancer_route53_calls_total"));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  const nextTurn = () => sleep(interval - (Date.now() % interval));
  try {
    progress(`${options.rebalances} Rebalances in ${zones} zones: the first reconcile`);
    await allAre(16);
    await nextTurn();
    await sleep(interval / 2);
    const before = await calls();
    progress("two intervals in which nothing changes");
    await sleep(2 * interval);
    const steady = await calls();
    progress("an interval in which every weight changes");
    metric = 2000;
    due = Date.now() + interval - (Date.now() % interval);
    const written = (await allAre(8)) - due;
    await sleep(interval - (Date.now() % interval) + interval / 2 - 1000);
    const changed = await calls();
    return {
      steadyCalls: (steady - before) / 2,
      changingCalls: changed - steady,
      written,
      decided,
      rss: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) * 1024,
    };
  } finally {
    await service[Symbol.asyncDispose]();
    await kube.stop();
    await Promise.all([api.stop(), route53.stop(), prometheus.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const isBlue = ({ setIdentifier }: RecordSet) => setIdentifier === "blue";

function twoSites(name: string): readonly RecordSet[] {
  const site = (setIdentifier: string, weight: number, address: string): RecordSet => {
    return { name, type: "A", setIdentifier, weight, ttl: 60, values: [address] };
  };
  return [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")];
}

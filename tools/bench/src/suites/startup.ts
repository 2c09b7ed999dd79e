import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startApiServer } from "@evenkeel/sim";
import { ADMIN, definitionOf, kubeconfigFor } from "@evenkeel/testkit";
import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";

const root = join(import.meta.dirname, "../../../..");
const rounds = 9;
/** The flags of the image's entry point. */
const IMAGE_FLAGS = ["--optimize-for-size", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** The least that a service could be: Node with one listening HTTP server. */
const bareServer = `
  require("node:http").createServer((_request, answer) => answer.end("ok")).listen(0, "127.0.0.1", () => console.log("ready"));
`;

interface Start {
  readonly milliseconds: number;
  readonly rss: number;
}

/** From spawn to the line that says it serves, and its memory at that time. */
async function start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) if (line.includes("ready")) break;
  const milliseconds = performance.now() - began;
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, "utf8"))?.[1]) * 1024;
  child.kill("SIGKILL");
  await once(child, "close");
  return { milliseconds, rss };
}

/**
 * How long the fixture service (from sources and as one bundled file) and weight-rebalancer take to serve, compared
 * with a bare Node server.
 */
export const startup: Suite = {
  name: "startup",
  about: "time from spawn to ready and memory then, of the fixture service, weight-rebalancer and a bare Node server",
  async run(progress) {
    const folder = mkdtempSync(join(tmpdir(), "bench-startup-"));
    const levelFile = join(folder, "level");
    writeFileSync(levelFile, "50\n");
    const bundles = ["run-many", "-t", "bundle", "-p", "ballast,weight-rebalancer"];
    const bundled = spawnSync("nx", bundles, { cwd: root, encoding: "utf8" });
    if (bundled.status !== 0) throw new Error(`The bundles were not made:\n${bundled.stdout}${bundled.stderr}`);
    const api = await startApiServer({ users: [ADMIN] });
    api.load(definitionOf("rebalances"));
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor(api.url));
    const common = ["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0"];
    const flags = [`--level-file=${levelFile}`, ...common, "--port=0"];
    const serviceFlags = [...common, "--insecure", "--grpc-port=0", `--kubeconfig=${kubeconfig}`];
    const contenders = [
      { name: "bare Node server", args: ["-e", bareServer], starts: [] as Start[] },
      {
        name: "ballast, one bundled file",
        args: [join(root, "tools/ballast/dist/main.mjs"), ...flags],
        starts: [] as Start[],
      },
      {
        name: "ballast, from sources",
        args: [join(root, "tools/ballast/src/main.ts"), ...flags],
        starts: [] as Start[],
      },
      {
        name: "weight-rebalancer, one bundled file",
        args: [...IMAGE_FLAGS, join(root, "apps/weight-rebalancer/dist/main.mjs"), ...serviceFlags],
        starts: [] as Start[],
      },
    ];
    for (let round = 0; round < rounds; round++) {
      // Alternating order, so that a slow moment of the machine does not always hit the same one.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
        contender.starts.push(await start(contender.args, { EVENKEEL_STATE: `sqlite:${join(folder, `${round}.db`)}` }));
      progress(`round ${round + 1} of ${rounds}`);
    }
    await api.stop();
    rmSync(folder, { recursive: true });
    const [bare, bundle, sources, service] = contenders.map(({ name, starts }) => {
      const values = starts.map(({ milliseconds }) => milliseconds);
      return { name, values, middle: median(values), rss: median(starts.map(({ rss }) => rss)) / 2 ** 20 };
    });
    if (!bare || !bundle || !sources || !service) throw new Error("unreachable: four contenders ran");
    return {
      results: [
        figure("bare Node server, spawn to ready", bare.middle, "ms"),
        figure("bundle, spawn to ready", bundle.middle, "ms"),
        figure("sources, spawn to ready", sources.middle, "ms"),
        figure("weight-rebalancer, spawn to ready", service.middle, "ms"),
        figure("bare Node server, memory when ready", bare.rss, "MiB"),
        figure("bundle, memory when ready", bundle.rss, "MiB"),
        barred("bundle / bare Node server, time", bundle.middle / bare.middle, "ratio", "<= 8"),
        barred("bundle / bare Node server, memory", bundle.rss / bare.rss, "ratio", "<= 2.5"),
        barred("weight-rebalancer / bare Node server, time", service.middle / bare.middle, "ratio", "<= 16"),
        barred("bundle / sources, time", bundle.middle / sources.middle, "ratio", "<= 0.8"),
      ],
      plot: { title: "Spawn to ready", unit: "ms", series: [bare, bundle, sources, service] },
    };
  },
};

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

const MODULE = join(import.meta.dirname, "../../../go/descheduler");

/** Builds descheduler from its pinned module, unless the cache has that build already, and gives its path. */
export async function buildDescheduler(progress: (line: string) => void): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(MODULE, file)));
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "evenkeel", "bench");
  const target = join(folder, `descheduler-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(target)) return target;
  progress("building descheduler, which takes some minutes the first time");
  mkdirSync(folder, { recursive: true });
  const temporary = `${target}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  const flags = ["-trimpath", "-ldflags=-s -w", "-o", temporary];
  const goBuild = ["go", "build", ...flags, "sigs.k8s.io/descheduler/cmd/descheduler"];
  await execute("nice", ["-n", "19", ...goBuild], { cwd: MODULE, env });
  renameSync(temporary, target);
  return target;
}

export interface DeschedulerOptions {
  readonly program: string;
  readonly kubeconfig: string;
  /** Percent around the mean utilisation of all nodes. */
  readonly band: number;
  readonly basis: "requests" | "usage";
}

/** Runs one cycle of descheduler's LowNodeUtilization with at most so many evictions. */
export async function deschedule(options: DeschedulerOptions, mostEvictions: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-descheduler-"));
  try {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, JSON.stringify(policyOf(options, mostEvictions)));
    const flags = [
      ...["--kubeconfig", options.kubeconfig, "--policy-config-file", policy, "--descheduling-interval", "0"],
      ...["--client-connection-qps", "500", "--client-connection-burst", "1000"],
      ...["--disable-metrics", "--secure-port", "0"],
    ];
    await execute(options.program, flags, { maxBuffer: 2 ** 28 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function policyOf({ band, basis }: DeschedulerOptions, mostEvictions: number): unknown {
  const isUsage = basis === "usage";
  const args = {
    useDeviationThresholds: true,
    thresholds: { cpu: band, memory: band },
    targetThresholds: { cpu: band, memory: band },
    ...(isUsage && { metricsUtilization: { source: "KubernetesMetrics" } }),
  };
  return {
    apiVersion: "descheduler/v1alpha2",
    kind: "DeschedulerPolicy",
    maxNoOfPodsToEvictTotal: mostEvictions,
    ...(isUsage && { metricsProviders: [{ source: "KubernetesMetrics" }] }),
    profiles: [
      {
        name: "bench",
        pluginConfig: [
          { name: "DefaultEvictor", args: {} },
          { name: "LowNodeUtilization", args },
        ],
        plugins: { balance: { enabled: ["LowNodeUtilization"] } },
      },
    ],
  };
}

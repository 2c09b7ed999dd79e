import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { charts, Release, serviceCharts } from "@evenkeel/charts";
import { openCluster } from "@evenkeel/control-plane";
import { archiveOf, writeNodeImage } from "./images/images.ts";

const run = promisify(execFile);

/** Name of the cluster of `make start` and `make cluster`. */
const CLUSTER = "evenkeel";
const NAMESPACE = "evenkeel-system";

/** Services that do not start without a Secret of the user's. They are installed if they are named or it exists. */
const NEED_SECRETS: Readonly<Record<string, string>> = { "endpoint-proxy": "wao-endpoint-proxy-system-tls" };

/** Where metrics-server answers. */
const USAGE = "/apis/metrics.k8s.io/v1beta1";

export interface DeployOptions {
  /** Install or upgrade this service, and leave the others as they are. Default: all that need nothing prepared. */
  readonly service?: string;
  /**
   * Image of that service, which the cluster has or can pull. Default: the archive that `make images` wrote, which is
   * loaded.
   */
  readonly image?: string;
  /** As for `make images`. */
  readonly registry?: string;
  readonly tag?: string;
  readonly say: (line: string) => void;
}

/** Where to install. */
export interface Target {
  readonly kubeconfig: string;
  readonly load: (archive: string) => Promise<void>;
  /** Whether the API server answers at this path. */
  readonly serves: (path: string) => Promise<boolean>;
}

/** Loads the services' images into the running cluster and installs the umbrella chart, or upgrades it. */
export async function deploy(options: DeployOptions): Promise<void> {
  const { service, image, registry, tag, say } = options;
  const known = serviceCharts(charts);
  if (service !== undefined && !known.includes(service)) {
    throw new Error(`there is no service ${service}; known are ${known.join(", ")}`);
  }
  if (image !== undefined && service === undefined)
    throw new Error("IMG is the image of one service: name it in SERVICE");
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  try {
    const target = await findTarget(folder);
    const chosen = service === undefined ? await startable(known, target, say) : [service];
    const values = chosen.map((name) => `${name}.enabled=true`);
    if (chosen.includes("eviction-planner")) {
      const hasUsage = await target.serves(USAGE);
      // Without usage, Helm would wait for a policy that cannot become Ready.
      values.push(`eviction-planner.policy.createDefault=${hasUsage}`);
      if (!hasUsage)
        say("leaving out the default RebalancePolicy: the cluster has no metrics-server that tells the nodes' usage");
    }
    if (registry) values.push(`global.imageRegistry=${registry}`);
    if (tag) values.push(...chosen.map((name) => `${name}.image.tag=${tag}`));
    if (image === undefined) values.push(...(await loadImages(target, chosen, say)));
    else values.push(...imageValues(chosen[0] ?? "", image));
    say(`installing ${chosen.join(", ")} in namespace ${NAMESPACE}`);
    using release = await Release.prepare(target);
    await release.helm(
      ...["upgrade", "--install", "evenkeel", release.chart("evenkeel")],
      ...["--namespace", NAMESPACE, "--create-namespace", "--wait", "--timeout", "3m"],
      // Otherwise the upgrade would disable the other services.
      ...(service === undefined ? [] : ["--reset-then-reuse-values"]),
      ...values.flatMap((value) => ["--set", value]),
    );
    say(`installed; see the pods with: kubectl get pods -n ${NAMESPACE}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The services that start without anything else, or whose Secret exists. */
async function startable(
  known: readonly string[],
  { serves }: Target,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const missing = new Set<string>();
  for (const [name, secret] of Object.entries(NEED_SECRETS)) {
    if (await serves(`/api/v1/namespaces/${NAMESPACE}/secrets/${secret}`)) continue;
    missing.add(name);
    say(`leaving out ${name}, which needs Secret ${secret}; once it exists: make deploy SERVICE=${name}`);
  }
  return known.filter((name) => !missing.has(name));
}

/** The cluster of `make cluster NODE=real`, or kind's of `make start`. */
async function findTarget(folder: string): Promise<Target> {
  const cluster = openCluster(CLUSTER);
  if (cluster !== undefined) {
    const serves = async (path: string): Promise<boolean> => (await cluster.kubectl(["get", "--raw", path])).code === 0;
    return { kubeconfig: cluster.kubeconfig, load: (archive) => cluster.loadImage(archive), serves };
  }
  const named = ["--name", CLUSTER];
  const { stdout } = await run("kind", ["get", "clusters"]).catch(() => ({ stdout: "" }));
  if (!stdout.split("\n").includes(CLUSTER)) throw new Error("no cluster is running; start one with: make start");
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, (await run("kind", ["get", "kubeconfig", ...named])).stdout, { mode: 0o600 });
  const load = async (archive: string): Promise<void> => {
    await run("kind", ["load", "image-archive", archive, ...named]);
  };
  const serves = (path: string): Promise<boolean> =>
    run("kubectl", ["--kubeconfig", kubeconfig, "get", "--raw", path]).then(
      () => true,
      () => false,
    );
  return { kubeconfig, load, serves };
}

/**
 * Loads what `make images` wrote. Returns values that make a Deployment replace its pods when the content of its image
 * changed.
 */
async function loadImages(
  { load }: Target,
  services: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const missing = services.filter((service) => !existsSync(archiveOf(service)));
  if (missing.length > 0) throw new Error(`there is no image of ${missing.join(", ")}; build it with: make images`);
  const values: string[] = [];
  for (const service of services) {
    say(`loading the image of ${service}`);
    await load(archiveOf(service));
    values.push(`${service}.podAnnotations.evenkeel\\.io/image-digest=${await digestOf(archiveOf(service))}`);
  }
  await load(writeNodeImage());
  return values;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** The values for an image such as registry.example.com:5000/team/scale-resolver:1.2.3. */
export function imageValues(service: string, image: string): readonly string[] {
  const [, repository = image, tag] = /^(.*):([^:/]+)$/.exec(image) ?? [];
  return [`${service}.image.repository=${repository}`, ...(tag === undefined ? [] : [`${service}.image.tag=${tag}`])];
}

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, waitUntil } from "@evenkeel/control-plane";
import { accountKubeconfig } from "./account.ts";
import { get, kubectl, type KubeObject, list } from "./kubectl-steps.ts";
import { ServiceProcess } from "@evenkeel/testkit";

interface Workload {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly Variable[];
            readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          },
        ];
      };
    };
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

interface RunningPod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status: { readonly phase?: string; readonly podIPs?: readonly { readonly ip: string }[] };
}

export interface ServicePodOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Name of the Deployment. */
  readonly name: string;
  /** The program of the image. */
  readonly main: string;
  readonly folder: string;
  /** Its name, if the Deployment has several pods. */
  readonly pod?: string;
  /** Further flags for this machine: free ports. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Keeps a pod until its process has ended, as a kubelet does. */
const FINALIZER = "evenkeel.io/process";

/** The program in the image. Node flags may precede it. */
const MAIN = "/app/main.mjs";

/**
 * The container of a Deployment's pod as a process on this machine, with the arguments, variables, files and account of
 * the chart. It gets SIGTERM when the pod is deleted, and the pod is removed after it has ended.
 */
export class ServicePod implements AsyncDisposable {
  readonly process: ServiceProcess;
  readonly pod: string;
  readonly #cluster: Cluster;
  readonly #namespace: string;
  readonly #minding: Promise<void>;
  #ending = false;

  private constructor(process: ServiceProcess, pod: string, { cluster, namespace }: ServicePodOptions) {
    this.process = process;
    this.pod = pod;
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#minding = this.#mind();
  }

  static async start(options: ServicePodOptions): Promise<ServicePod> {
    const { cluster, namespace, name, main, flags, env } = options;
    const deployment = await get<Workload>(cluster, "deployment", name, "-n", namespace);
    const { spec } = deployment.spec.template;
    const [container] = spec.containers;
    const pod = options.pod ?? (await onlyPod(options, deployment));
    await kubectl(cluster, ["patch", "pod", pod, "-n", namespace, "-p", finalizers([FINALIZER])]);

    const folder = mkdtempSync(join(options.folder, "pod-"));
    const places = new Map<string, string>();
    for (const { name: volume, mountPath } of container.volumeMounts) {
      const place = join(folder, volume);
      mkdirSync(place);
      places.set(mountPath, place);
      const secret = spec.volumes.find((one) => one.name === volume)?.secret;
      if (secret) await writeSecret(cluster, namespace, secret.secretName, place);
    }
    // Only at the beginning of a path, because the folder here may contain the name of one in the image.
    const here = (text: string) =>
      text.replace(/(?<=^|[=:])\/[^=:]*\//, (path) => {
        const place = places.get(path.slice(0, -1));
        return place === undefined ? path : `${place}/`;
      });
    const kubeconfig = await accountKubeconfig(cluster, namespace, spec.serviceAccountName);
    const running = await get<RunningPod>(cluster, "pod", pod, "-n", namespace);
    const valueOf = async ({ value, valueFrom = {} }: Variable) => {
      if (value !== undefined) return here(value);
      const { fieldRef, secretKeyRef } = valueFrom;
      if (secretKeyRef) return (await secretData(cluster, namespace, secretKeyRef.name)).get(secretKeyRef.key) ?? "";
      return fieldOf(running, fieldRef?.fieldPath);
    };
    const variables = await Promise.all(container.env.map(async (one) => [one.name, await valueOf(one)] as const));
    const given = [
      ...container.args.slice(container.args.indexOf(MAIN) + 1).map(here),
      ...flags,
      `--kubeconfig=${kubeconfig}`,
    ];
    const started = ServiceProcess.start(main, given, { env: { ...Object.fromEntries(variables), ...env } });
    return new ServicePod(started, pod, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = true;
    await this.#minding;
    await this.process[Symbol.asyncDispose]();
    await this.#removeFinalizers();
  }

  /** Resolves when the pod was deleted and its process has ended. */
  async gone(): Promise<void> {
    await this.#minding;
  }

  async #mind(): Promise<void> {
    while (!this.#ending) {
      const pod = await get<RunningPod>(this.#cluster, "pod", this.pod, "-n", this.#namespace);
      if (pod.metadata.deletionTimestamp !== undefined) {
        this.process.signal("SIGTERM");
        await this.process.exit;
        await this.#removeFinalizers();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  async #removeFinalizers(): Promise<void> {
    const { stderr, code } = await this.#cluster.kubectl([
      ...["patch", "pod", this.pod, "-n", this.#namespace, "--type=merge", "-p", finalizers([])],
    ]);
    if (code !== 0 && !stderr.includes("NotFound")) throw new Error(stderr);
  }
}

function finalizers(names: readonly string[]): string {
  return JSON.stringify({ metadata: { finalizers: names } });
}

async function onlyPod({ cluster, namespace }: ServicePodOptions, { spec }: Workload): Promise<string> {
  const selector = Object.entries(spec.selector.matchLabels).map(([key, value]) => `${key}=${value}`);
  let found: string | undefined;
  await waitUntil("a pod of the Deployment to run", async () => {
    const pods = await list<RunningPod>(cluster, "pods", "-n", namespace, "-l", selector.join(","));
    const alive = pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status.phase === "Running");
    found = alive.length === 1 ? alive[0]?.metadata.name : undefined;
    return found === undefined ? `there are ${alive.length} of ${pods.length}` : undefined;
  });
  return found ?? "";
}

async function writeSecret(cluster: Cluster, namespace: string, name: string, folder: string): Promise<void> {
  for (const [key, value] of await secretData(cluster, namespace, name)) writeFileSync(join(folder, key), value);
}

async function secretData(cluster: Cluster, namespace: string, name: string): Promise<ReadonlyMap<string, string>> {
  const { data } = await get<{ data: Record<string, string> }>(cluster, "secret", name, "-n", namespace);
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

/** The value of a field in a variable, as a kubelet sets it. */
function fieldOf({ metadata, status }: KubeObject<RunningPod>, path: string | undefined): string {
  const fields = new Map([
    ["metadata.namespace", metadata.namespace],
    ["metadata.name", metadata.name],
    ["status.podIPs", status.podIPs?.map(({ ip }) => ip).join(",")],
  ]);
  const value = fields.get(path ?? "");
  if (value === undefined) throw new Error(`there is no field ${path ?? ""} here`);
  return value;
}

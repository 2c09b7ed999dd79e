import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  connectKube,
  deployments,
  type EndpointSlice,
  endpointSlices,
  type KubeClient,
  type KubeObject,
  type ResourceTypeOf,
  services,
} from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { kubeconfigFor, type LoopbackAddresses, loopbackAddresses } from "@evenkeel/testkit";
import type { PodAddress } from "./holder.ts";
import { now } from "./now.ts";
import { Remote } from "./remote.ts";
import type { ScaleCall, WorldProcess } from "./world.ts";

interface ElastiService extends KubeObject {
  readonly spec: unknown;
  readonly status?: { readonly state?: string; readonly ports?: readonly { readonly port: number }[] };
}

const elastiServices: ResourceTypeOf<ElastiService> = {
  group: "elasti.truefoundry.com",
  version: "v1alpha1",
  kind: "ElastiService",
  plural: "elastiservices",
  namespaced: true,
};

/** Milliseconds that the resolver may take for a status. */
const PATIENCE = 90_000;

/**
 * The cluster: an API server in a process of its own, in which the bench plays what else there is of a control plane.
 */
export class Cluster implements AsyncDisposable {
  readonly kubeconfig: string;
  /** Ports for Services that no other process has, also not one that an earlier run left behind. */
  readonly portRange: string;
  readonly #world: Remote<WorldProcess>;
  readonly #addresses: LoopbackAddresses;
  readonly #kube: KubeClient;
  readonly #folder: string;

  private constructor(world: Remote<WorldProcess>, url: string, addresses: LoopbackAddresses) {
    this.#world = world;
    this.#addresses = addresses;
    this.portRange = addresses.ports;
    this.#folder = mkdtempSync(join(tmpdir(), "bench-resolver-"));
    this.kubeconfig = join(this.#folder, "kubeconfig");
    writeFileSync(this.kubeconfig, kubeconfigFor(url));
    const settings = {
      kubeconfig: this.kubeconfig,
      kubeContext: undefined,
      kubeDeadline: 10_000,
      kubeConnections: 4,
      kubeQps: 0,
      kubeBurst: 1,
    };
    this.#kube = connectKube({ settings, env: {}, userAgent: "bench" });
  }

  static async start(): Promise<Cluster> {
    const world = await Remote.start<WorldProcess>("world.ts");
    return new Cluster(world, await world.ask("url", undefined), await loopbackAddresses());
  }

  /** A Service with a workload at zero, and the ElastiService that wakes it. `more` is of the latter's spec. */
  async addService(name: string, maxPending: number, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const metadata = { namespace: "default", name };
    const matchLabels = { app: name };
    const containers = [{ name: "main", image: "images.invalid/main:1" }];
    const template = { metadata: { labels: matchLabels }, spec: { containers } };
    const spec = { replicas: 0, selector: { matchLabels }, template };
    await this.#kube.resource(deployments).create({ metadata, spec });
    const ports = [{ name: "http", port: 80, targetPort: 8080 }];
    await this.#kube.resource(services).create({ metadata, spec: { selector: matchLabels, ports } });
    await this.#kube.resource(endpointSlices).create(sliceOf(name, undefined));
    await this.#kube.resource(elastiServices).create({
      metadata,
      spec: {
        service: name,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        hold: { maxPending, maxPendingBytes: 2 ** 30 },
        ...more,
      },
    });
  }

  /** Adds an object as it is. */
  load(object: unknown): Promise<void> {
    return this.#world.ask("load", JSON.stringify(object));
  }

  /** Makes the pod ready, as the EndpointSlice has it. The answer is the moment before the call. */
  async ready(name: string, pod: PodAddress): Promise<number> {
    const { endpoints, ports } = sliceOf(name, pod);
    const at = now();
    await this.#patchSlice(name, { endpoints, ports });
    return at;
  }

  /** Takes the pod away and sets the workload to zero, as another client would. */
  async empty(name: string): Promise<void> {
    const type = "merge";
    await this.#kube.resource(deployments).patch(nameOf(name), { type, body: { spec: { replicas: 0 } } });
    await this.#patchSlice(name, { endpoints: [] });
  }

  /** The resolver's port of the service, once it has one. */
  async port(name: string): Promise<number> {
    return eventually(async () => {
      const { status } = await this.#kube.resource(elastiServices).get(nameOf(name));
      const port = status?.ports?.[0]?.port;
      if (port === undefined) throw new Error(`${name} has no port`);
      return port;
    }, PATIENCE);
  }

  /** Waits until the status has one of these states. */
  async stands(name: string, ...states: readonly string[]): Promise<void> {
    await eventually(async () => {
      const { status } = await this.#kube.resource(elastiServices).get(nameOf(name));
      const state = status?.state ?? "";
      if (!states.includes(state)) throw new Error(`${name} is in ${state}, not in ${states.join(" or ")}`);
    }, PATIENCE);
  }

  /** The resolver's calls of /scale since the last question: the bench itself writes to the workload. */
  scaleCalls(): Promise<readonly ScaleCall[]> {
    return this.#world.ask("scaleCalls", undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kube.stop();
    await this.#world[Symbol.asyncDispose]();
    await this.#addresses[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #patchSlice(name: string, body: unknown): Promise<void> {
    await this.#kube.resource(endpointSlices).patch(nameOf(`${name}-pods`), { type: "merge", body });
  }
}

const nameOf = (name: string) => ({ namespace: "default", name });

/** As the control plane's own controller writes it. */
function sliceOf(service: string, pod: PodAddress | undefined): EndpointSlice {
  return {
    metadata: {
      namespace: "default",
      name: `${service}-pods`,
      labels: {
        "kubernetes.io/service-name": service,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
    },
    addressType: "IPv4",
    endpoints: pod
      ? [
          {
            addresses: [pod.address],
            conditions: { ready: true, serving: true, terminating: false },
            targetRef: { kind: "Pod", namespace: "default", name: `${service}-0`, uid: pod.address },
          },
        ]
      : [],
    ports: [{ name: "http", port: pod?.port ?? 8080, protocol: "TCP" }],
  };
}

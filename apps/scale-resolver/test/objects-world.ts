import {
  type Condition,
  connectKube,
  deployments,
  type EndpointSlice,
  endpointSlices,
  type KubeClient,
  pods,
} from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { World as ServiceWorld, type WorldParts } from "@evenkeel/testkit";
import { useOf } from "../src/act/path-plan.ts";
import { elastiServices, type StoredElastiService } from "../src/elasti-service-resource.ts";

/** Of this test's own calls. */
export const USER_AGENT = "tests";

/** Maximum milliseconds of a change of state on a busy machine. */
const PATIENCE = 30_000;

/** Reads, edits and awaits the objects of a world's API server. */
export class ObjectsWorld extends ServiceWorld {
  readonly kube: KubeClient;

  constructor(parts: WorldParts) {
    super(parts);
    const limits = { kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    const settings = { kubeconfig: this.kubeconfig, kubeContext: undefined, ...limits };
    this.kube = this.use(connectKube({ settings, env: {}, userAgent: USER_AGENT }));
  }

  get(name: string): Promise<StoredElastiService> {
    return this.kube.resource(elastiServices).get({ namespace: "default", name });
  }

  async edit(name: string, spec: unknown): Promise<StoredElastiService> {
    const body = { spec };
    return this.kube.resource(elastiServices).patch({ namespace: "default", name }, { type: "merge", body });
  }

  async annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.kube.resource(elastiServices).patch({ namespace: "default", name }, { type: "merge", body });
  }

  async delete(name: string): Promise<void> {
    await this.kube.resource(elastiServices).delete({ namespace: "default", name });
  }

  /** Resolves when an ElastiService no longer exists. */
  async isGone(name: string): Promise<void> {
    await eventually(async () => {
      const { items } = await this.kube.resource(elastiServices).list({ namespace: "default" });
      return !items.some(({ metadata }) => metadata.name === name);
    });
  }

  async replicas(name: string): Promise<number> {
    const { spec } = await this.kube.resource(deployments).scale.get({ namespace: "default", name });
    return spec.replicas ?? 0;
  }

  async scale(name: string, replicas: number): Promise<void> {
    const body = { spec: { replicas } };
    await this.kube.resource(deployments).scale.patch({ namespace: "default", name }, { type: "merge", body });
  }

  /** Resolves when a workload has so many replicas. */
  async isScaledTo(name: string, replicas: number): Promise<void> {
    await eventually(async () => (await this.replicas(name)) === replicas);
  }

  /** The slices that redirect a Service to the resolver. */
  async resolverSlices(service: string): Promise<readonly EndpointSlice[]> {
    return (await this.ownSlices(service)).filter((slice) => useOf(slice) === "redirect");
  }

  /** All slices of the resolver for a Service, also those by which it stands by. */
  async ownSlices(service: string): Promise<readonly EndpointSlice[]> {
    const labelSelector = `kubernetes.io/service-name=${service},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
    return (await this.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items;
  }

  /** The addresses that the resolver's slices of a Service redirect requests to. */
  async redirectedTo(service: string): Promise<readonly string[]> {
    const slices = await this.resolverSlices(service);
    return slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)).sort();
  }

  /** Resolves when requests of a Service are no longer redirected. */
  async isRestored(service: string): Promise<void> {
    await eventually(async () => (await this.resolverSlices(service)).length === 0);
  }

  /** Resolves when a workload has no pods. */
  async isEmpty(name: string): Promise<void> {
    await eventually(async () => {
      const { items } = await this.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${name}` });
      if (items.length > 0) throw new Error(`${name} still has ${items.length} pods`);
    });
  }

  async inState(name: string, state: string, limit = PATIENCE): Promise<StoredElastiService> {
    return eventually(async () => {
      const object = await this.get(name);
      if (object.status?.state !== state) throw new Error(`${name} is ${JSON.stringify(object.status)}`);
      return object;
    }, limit);
  }

  /** The condition Ready of an ElastiService, once it has that reason. */
  async ready(name: string, reason: string): Promise<Condition> {
    return eventually(async () => {
      const { status } = await this.get(name);
      const condition = status?.conditions?.find(({ type }) => type === "Ready");
      if (condition?.reason !== reason) throw new Error(`${name} is ${JSON.stringify(status)}`);
      return condition;
    }, PATIENCE);
  }

  /**
   * Resolves when a service sleeps and the resolver knows that it has no pods. It is not enough that the pods are
   * removed: until the resolver knows, it still forwards requests to them.
   */
  async sleeps(name: string, limit = PATIENCE): Promise<void> {
    await this.inState(name, "Zero", limit);
    await this.isEmpty(name);
    await eventually(async () => {
      const { status } = await this.get(name);
      const reason = status?.conditions?.find(({ type }) => type === "Ready")?.reason;
      // Of the reasons in Zero, those two say that nothing serves.
      if (reason !== "Asleep" && reason !== "ScaledToZero") throw new Error(`${name} is ${JSON.stringify(status)}`);
    }, PATIENCE);
  }
}

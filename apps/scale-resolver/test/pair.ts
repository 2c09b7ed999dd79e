import type { ServiceProcess } from "@evenkeel/testkit";
import { endpointSlices, leases } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { RedisServer } from "@evenkeel/state-contract";
import { type Answer, ask, type AskOptions } from "./ask.ts";
import type { World } from "./world.ts";

/** The Service before the replicas. */
const OWN = "scale-resolver";

/** One replica of the service, at an address of loopback that is its own. */
export interface Replica {
  readonly name: "a" | "b";
  readonly address: string;
  process: ServiceProcess;
}

/**
 * Two replicas of the real service on one real Redis. They listen on the same ports of two addresses, as pods do. The
 * test sets which of them are ready.
 */
export class Pair implements AsyncDisposable {
  readonly #world: World;
  readonly #flags: readonly string[];
  /** Identities of replicas that have stopped. */
  readonly #gone = new Set<string>();
  readonly redis: RedisServer;
  readonly a: Replica;
  readonly b: Replica;

  private constructor(world: World, redis: RedisServer, flags: readonly string[]) {
    this.#world = world;
    this.redis = redis;
    this.#flags = flags;
    this.a = { name: "a", address: "127.0.0.1", process: this.#serve("a", "127.0.0.1") };
    const address = world.replicaAddress();
    this.b = { name: "b", address, process: this.#serve("b", address) };
  }

  static async start(world: World, flags: readonly string[] = []): Promise<Pair> {
    const pair = new Pair(world, await RedisServer.start(), flags);
    await Promise.all(pair.both.map((replica) => pair.#isReady(replica)));
    await pair.setReady("a", "b");
    return pair;
  }

  get both(): readonly [Replica, Replica] {
    return [this.a, this.b];
  }

  other(replica: Replica): Replica {
    return replica === this.a ? this.b : this.a;
  }

  /** As the EndpointSlice controller would write it: these are ready, the others are not. */
  async setReady(...names: readonly Replica["name"][]): Promise<void> {
    const endpoints = this.both.map(({ name, address }) => {
      const ready = names.includes(name);
      return {
        addresses: [address],
        conditions: { ready, serving: ready, terminating: !ready },
        targetRef: { kind: "Pod", namespace: "default", name, uid: `uid-${name}` },
      };
    });
    const resource = this.#world.kube.resource(endpointSlices);
    const metadata = {
      ...{ namespace: "default", name: `${OWN}-x` },
      labels: { "kubernetes.io/service-name": OWN, "endpointslice.kubernetes.io/managed-by": "tests" },
    };
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata,
      addressType: "IPv4",
      endpoints,
    };
    const { items } = await resource.list({ namespace: "default" });
    const isThere = items.some(({ metadata: { name } }) => name === metadata.name);
    if (!isThere) await resource.create({ ...slice, ports: [] });
    else await resource.patch(metadata, { type: "merge", body: { endpoints } });
  }

  /** The leader, once it is one that runs. */
  async leader(): Promise<Replica> {
    return eventually(async () => {
      const holder = await this.#holder();
      const found = this.both.find(({ name }) => holder.startsWith(`${name}_`));
      if (!found || this.#gone.has(holder)) throw new Error(`${holder} leads`);
      return found;
    });
  }

  async #holder(): Promise<string> {
    const { spec } = await this.#world.kube.resource(leases).get({ namespace: "default", name: OWN });
    return spec?.holderIdentity ?? "";
  }

  /** A Lease outlives a stopped leader. */
  async #end(replica: Replica, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    replica.process.signal(signal);
    const holder = await this.#holder();
    if (holder.startsWith(`${replica.name}_`)) this.#gone.add(holder);
  }

  /** kill -9. Its pod is no longer ready a moment later. */
  async kill(replica: Replica): Promise<void> {
    await this.#end(replica, "SIGKILL");
    await replica.process.exit;
    await this.setReady(this.other(replica).name);
  }

  /** As a pod that is deleted: it gets SIGTERM, and its endpoint is not ready from that moment on. */
  async terminate(replica: Replica): Promise<void> {
    await this.#end(replica, "SIGTERM");
    await this.setReady(this.other(replica).name);
  }

  /** Starts a replica again that has ended, under its name and address. */
  async revive(replica: Replica): Promise<void> {
    await replica.process.exit;
    replica.process = this.#serve(replica.name, replica.address);
    await this.#isReady(replica);
    await this.setReady("a", "b");
  }

  /** As the kubelet finds it out: a replica runs before its ports are open. */
  async #isReady(replica: Replica): Promise<void> {
    const health = await this.listener(replica, "health");
    await eventually(async () => (await fetch(`http://${health}/readyz`)).ok);
  }

  /** The address at which one replica accepts the requests of a Service. */
  async place(replica: Replica, service: string): Promise<{ readonly host: string; readonly port: number }> {
    const port = (await this.#world.get(service)).status?.ports?.[0]?.port ?? 0;
    return { host: replica.address, port };
  }

  /** The response of one replica to a request for a Service. */
  async ask(replica: Replica, service: string, options: AskOptions = {}): Promise<Answer> {
    return ask(await this.place(replica, service), options);
  }

  /** The address of a listener of a replica, such as `admin`. */
  async listener(replica: Replica, name: string): Promise<string> {
    const { ports } = (await replica.process.phase("ready")) as { ports: Record<string, number> };
    return `${replica.address}:${ports[name] ?? "none"}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.both.map(({ process }) => process[Symbol.asyncDispose]()));
    await this.redis.end();
  }

  #serve(name: string, address: string): ServiceProcess {
    const own = [`--pod-name=${name}`, `--pod-ip=${address}`, `--listen-host=${address}`, `--resolver-service=${OWN}`];
    return this.#world.serve([...own, `--state=${this.redis.address}`, ...this.#flags]);
  }
}

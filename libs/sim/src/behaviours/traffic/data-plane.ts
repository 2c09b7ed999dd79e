import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { fieldsOr, listOr, textOr } from "../../json.ts";
import { objectKey, type StoredObject } from "../../object.ts";
import type { Behaviour, World } from "../behaviour.ts";
import { ObjectIndex } from "../object-index.ts";
import { specOf, tables } from "../object-state.ts";
import { SERVICE_NAME } from "./endpoint-slices.ts";
import { type Target, targets } from "./targets.ts";

/** Where something really listens. */
export interface Listener {
  readonly host: string;
  readonly port: number;
}

export interface DataPlaneOptions {
  /** Milliseconds after which a node sees a change of EndpointSlices; 0 unless told. */
  readonly nodeLag?: number | ((node: string) => number);
  /** What stands for a pod's port; undefined if nothing listens there. */
  readonly locate: (target: Target) => Listener | undefined;
}

/** A port of a Service, as a client on a node sees it. */
export interface Front {
  readonly node: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  /** Where to listen, such as the Service's cluster address if that is one of loopback; anywhere unless told. */
  readonly at?: Listener;
}

export interface DataPlane {
  readonly behaviour: Behaviour;
  /**
   * Where clients on a node reach a Service's port, the same each time. A node knows the endpoints of the moment when
   * it is asked for first, and later ones after its lag. Fails before the behaviour was started.
   */
  reach(front: Front): Promise<Listener>;
}

/**
 * Carries TCP connections to Services as kube-proxy does: to the endpoints of the EndpointSlices, one after the other.
 * A connection that finds no endpoint is reset; one that is open stays where it is, whatever becomes of its endpoint.
 */
export function dataPlane({ nodeLag = 0, locate }: DataPlaneOptions): DataPlane {
  const lagOf = typeof nodeLag === "number" ? () => nodeLag : nodeLag;
  let proxies: Proxies | undefined;
  return {
    behaviour: (world) => {
      const started = new Proxies(world, lagOf, locate);
      proxies = started;
      return () => started.stop();
    },
    reach: (front) => {
      if (proxies === undefined)
        throw new Error("the data plane has not been started: give its behaviour to the API server");
      return proxies.reach(front);
    },
  };
}

class Proxies {
  readonly #world: World;
  readonly #lagOf: (node: string) => number;
  readonly #locate: DataPlaneOptions["locate"];
  readonly #slices = new ObjectIndex(({ metadata: { namespace, labels } }) => [
    objectKey(namespace, labels?.[SERVICE_NAME] ?? ""),
  ]);
  /** By node, the slices that it sees, by the key of their Service. */
  readonly #views = new Map<string, Map<string, readonly StoredObject[]>>();
  readonly #fronts = new Map<string, Promise<Listener>>();
  readonly #servers = new Set<Server>();
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<() => void>();
  readonly #unlisten: () => void;

  constructor(world: World, lagOf: (node: string) => number, locate: DataPlaneOptions["locate"]) {
    this.#world = world;
    this.#lagOf = lagOf;
    this.#locate = locate;
    this.#unlisten = world.store.listen((table, change) => {
      if (table.name !== tables.slices) return;
      this.#slices.note(change);
      for (const slice of [change.previous, change.object]) {
        const service = slice?.metadata.labels?.[SERVICE_NAME];
        if (service !== undefined) this.#spread(objectKey(slice?.metadata.namespace, service));
      }
    });
  }

  reach(front: Front): Promise<Listener> {
    const { node, namespace, service, port } = front;
    if (!this.#views.has(node)) this.#views.set(node, new Map());
    const view = this.#views.get(node);
    const key = objectKey(namespace, service);
    if (view?.has(key) === false) view.set(key, this.#slicesOf(key));
    const name = `${node} ${key}:${port}`;
    const open = this.#fronts.get(name) ?? this.#open(front);
    this.#fronts.set(name, open);
    return open;
  }

  stop(): void {
    this.#unlisten();
    for (const cancel of this.#timers) cancel();
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #slicesOf(service: string): readonly StoredObject[] {
    const table = this.#world.store.table(tables.slices);
    return [...this.#slices.get(service)].map((key) => table.get(key)).filter((slice) => slice !== undefined);
  }

  /** Lets each node that looks at a Service see its slices as they are now, each in its time. */
  #spread(service: string): void {
    const slices = this.#slicesOf(service);
    for (const [node, view] of this.#views) {
      if (!view.has(service)) continue;
      const lag = this.#lagOf(node);
      if (lag === 0) view.set(service, slices);
      else this.#later(lag, () => view.set(service, slices));
    }
  }

  #later(delay: number, task: () => void): void {
    const cancel = this.#world.clock.schedule(delay, () => {
      this.#timers.delete(cancel);
      task();
    });
    this.#timers.add(cancel);
  }

  async #open(front: Front): Promise<Listener> {
    const { at = { host: "127.0.0.1", port: 0 } } = front;
    let connection = 0;
    const server = createServer({ allowHalfOpen: true }, (client) => {
      this.#sockets.add(client.on("close", () => this.#sockets.delete(client)));
      const choices = this.#targetsOf(front);
      const chosen = choices[connection++ % choices.length];
      const listener = chosen === undefined ? undefined : this.#locate(chosen);
      if (listener === undefined) client.on("error", () => undefined).resetAndDestroy();
      else this.#join(client, listener);
    });
    this.#servers.add(server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(at.port, at.host, resolve);
    });
    return { host: at.host, port: (server.address() as AddressInfo).port };
  }

  #targetsOf({ node, namespace, service: name, port }: Front): readonly Target[] {
    const key = objectKey(namespace, name);
    const service = this.#world.store.table(tables.services).get(key);
    if (service === undefined) return [];
    const ports = listOr(specOf(service)["ports"]).map(fieldsOr);
    const found = ports.find((one) => one["port"] === port);
    return found === undefined ? [] : targets(this.#views.get(node)?.get(key) ?? [], textOr(found["name"]));
  }

  #join(client: Socket, listener: Listener): void {
    const server = connect({ ...listener, allowHalfOpen: true });
    this.#sockets.add(server.on("close", () => this.#sockets.delete(server)));
    client.on("error", () => server.destroy());
    server.on("error", () => client.resetAndDestroy());
    client.pipe(server).pipe(client);
  }
}

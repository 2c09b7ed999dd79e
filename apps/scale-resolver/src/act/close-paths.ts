import { keyOf, type ReadStore, type Service } from "@evenkeel/kube";
import { type Clock, type Component, explain, type Logger, type Running } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";
import type { Pods } from "../decide/snapshot.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import type { PathSlices } from "./path-slices.ts";
import type { Statuses } from "./paused-scaled-objects.ts";
import type { RouteSwitch } from "./routes/route-switch.ts";
import { statusOfIdle } from "./status.ts";

export interface ClosePathsOptions {
  readonly objects: Pick<ReadStore<StoredElastiService>, "values">;
  readonly services: Pick<ReadStore<Service>, "get">;
  /** The pods behind a Service, by its key; null if they are not known yet. */
  readonly pods: (key: string) => Pods | null;
  readonly path: Pick<PathSlices, "useOf" | "close" | "leave">;
  readonly routes: Pick<RouteSwitch, "leave">;
  readonly statuses: Statuses;
  /** The ready replicas of this program, including this one. */
  readonly resolvers: () => readonly Pick<ResolverEndpoint, "address">[];
  /** The addresses of this replica. */
  readonly podIps: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Milliseconds from SIGTERM until paths are closed. Until then this replica accepts requests and a successor may
   * become ready.
   */
  readonly wait: number;
}

/** Milliseconds. */
const CALL_DEADLINE = 5000;

/**
 * Removes the last replica from the paths of all Services before it stops. A Service with ready pods is restored.
 * Clients of a Service at zero are refused at once instead of waiting for an address that no longer exists. A replica
 * that starts later redirects the Services again.
 *
 * Every replica does this, leader or not: if all stop together, each may see another as the last. Repeating it does no
 * harm.
 */
export class ClosePaths implements Component {
  readonly name = "paths";
  readonly #options: ClosePathsOptions;
  #stopping = false;
  #cancel: () => void = () => undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ClosePathsOptions) {
    this.#options = options;
  }

  start({ signal }: Running): void {
    const { clock, wait } = this.#options;
    const begin = () => {
      this.#stopping = true;
      this.#cancel = clock.schedule(wait, () => void this.#close());
    };
    signal.addEventListener("abort", begin, { once: true });
  }

  async stop(): Promise<void> {
    this.#cancel();
    if (this.#stopping) await this.#close();
  }

  #close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const { objects, resolvers, podIps, path, log } = this.#options;
    if (resolvers().some(({ address }) => !podIps.includes(address))) return;
    const isRedirected = ({ metadata, status }: StoredElastiService) =>
      path.useOf(metadata.namespace ?? "", status?.service ?? "") === "redirect";
    // Of the others, no client waits.
    const inOrder = [...objects.values()].sort((a, b) => Number(isRedirected(b)) - Number(isRedirected(a)));
    const closed = await Promise.allSettled(inOrder.map((object) => this.#closeOne(object)));
    for (const { error } of closed.flatMap((one) =>
      one.status === "rejected" ? [{ error: one.reason as unknown }] : [],
    )) {
      log.warn({ error }, `could not close the path of a Service before the last resolver stops: ${explain(error)}`);
    }
    const count = closed.filter((one) => one.status === "fulfilled" && one.value).length;
    if (count > 0) log.info({ count }, "closed the paths of Services, because no other resolver is ready");
  }

  /** Resolves with whether the path was open. */
  async #closeOne(object: StoredElastiService): Promise<boolean> {
    const { services, pods, path, routes, statuses, clock } = this.#options;
    const { namespace = "", generation = 0 } = object.metadata;
    const name = object.status?.service ?? "";
    const service = services.get(serviceKey(namespace, name));
    if (!service || path.useOf(namespace, name) === undefined) return false;
    const call = { deadline: CALL_DEADLINE };
    if ((pods(serviceKey(namespace, name))?.ready ?? 0) > 0) {
      await routes.leave(namespace, name, [object.status?.route], call);
      await path.leave(namespace, name, call);
      return true;
    }
    await path.close(service, new Set(), call);
    const message = `The last replica of the resolver stopped while ${keyOf(service)} had no ready pod: requests are refused until a replica runs`;
    const status = statusOfIdle(object.status, { reason: "NoResolver", message, generation }, clock.now());
    await statuses.write(object, status, { signal: AbortSignal.timeout(CALL_DEADLINE) });
    return true;
  }
}

import type { KubeClient } from "@evenkeel/kube";
import { NAMESPACE } from "./manifests.ts";
import type { Route, RouteKind } from "./route-manifests.ts";

interface Seen {
  /** By the monotonic clock. */
  readonly at: number;
  readonly spec: string;
}

/** Every state that a route was in, in order, and when it was heard of. */
export class RouteWatch implements AsyncDisposable {
  readonly #seen: Seen[] = [];
  readonly #ending = new AbortController();
  readonly #watching: Promise<void>;

  private constructor(kube: KubeClient, kind: RouteKind, name: string, resourceVersion: string | undefined) {
    this.#watching = this.#watch(kube, kind, name, resourceVersion);
  }

  /** From now on. */
  static async start(kube: KubeClient, kind: RouteKind, name: string): Promise<RouteWatch> {
    const { metadata } = await kube.resource(kind.resource).get({ namespace: NAMESPACE, name });
    return new RouteWatch(kube, kind, name, metadata.resourceVersion);
  }

  /** Why it cannot be said that the route led to its Service and then to the resolver again. */
  whyNotAgain(service: string): string | undefined {
    return this.#returns(service) === undefined
      ? this.#seen.map(({ spec }) => spec).join("\n") || "nothing"
      : undefined;
  }

  /** How long it led to its Service before it led to the resolver again. */
  millisecondsUntilAgain(service: string): number {
    return this.#returns(service) ?? NaN;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#watching;
  }

  #returns(service: string): number | undefined {
    const leads = this.#seen.map(({ spec }) => spec.includes(`${service}.${NAMESPACE}:80`));
    const away = leads.indexOf(false);
    const back = leads.indexOf(true, away);
    const [from, to] = [this.#seen[away], this.#seen[back]];
    return away === -1 || back === -1 || !from || !to ? undefined : to.at - from.at;
  }

  async #watch(kube: KubeClient, kind: RouteKind, name: string, resourceVersion: string | undefined): Promise<void> {
    const { signal } = this.#ending;
    const selection = { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}` };
    const resource = kube.resource<Route>(kind.resource);
    for await (const event of resource.watch({ signal, resourceVersion, ...selection })) {
      if (event.type === "MODIFIED")
        this.#seen.push({ at: performance.now(), spec: JSON.stringify(event.object.spec) });
    }
  }
}

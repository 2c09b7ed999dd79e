import type { KubeClient } from "@evenkeel/kube";
import { NAMESPACE } from "./manifests.ts";
import type { Route, RouteKind } from "./route-manifests.ts";

interface Seen {
  /** By the monotonic clock. */
  readonly at: number;
  readonly spec: string;
}

/** Every state of a route, in order, with the time of its event. */
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

  /** Why the route was not restored to its Service and then redirected again. */
  whyNotAgain(service: string): string | undefined {
    return this.#returns(service) === undefined
      ? this.#seen.map(({ spec }) => spec).join("\n") || "nothing"
      : undefined;
  }

  /** Milliseconds for which it pointed at its Service before it was redirected again. */
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

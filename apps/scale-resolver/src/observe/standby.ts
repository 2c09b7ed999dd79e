import type { KubeClient, ResourceType } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";

export interface StandbyOptions {
  readonly kube: Pick<KubeClient, "serves">;
  readonly clock: Clock;
  /** `--standby`; undefined: it depends on the cluster. */
  readonly standby: boolean | undefined;
}

const ciliumNodes: ResourceType = {
  ...{ group: "cilium.io", version: "v2", kind: "CiliumNode", plural: "ciliumnodes", namespaced: false },
};

/** Milliseconds until the cluster is looked at again, also after a failure. */
const REMEMBERED = 600_000;
const RETRIED = 5_000;
const DEADLINE = 1_000;

/**
 * Whether the resolver may be an endpoint that is marked as terminating. Where Cilium replaces kube-proxy, such an
 * endpoint is not used when it becomes ready later, so that no redirect would ever work
 * (https://github.com/cilium/cilium/issues/28094). Whether it replaces kube-proxy is not visible from its resources.
 */
export class Standby {
  readonly #options: StandbyOptions;
  #known: { readonly isPossible: boolean; readonly until: number } | undefined;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  /** If the cluster cannot be read, the last answer stays in force, and at first it is false. */
  async isPossible(signal: AbortSignal): Promise<boolean> {
    const { kube, clock, standby } = this.#options;
    if (standby !== undefined) return standby;
    const known = this.#known;
    if (known && clock.monotonic() < known.until) return known.isPossible;
    const remember = (isPossible: boolean, milliseconds: number) => {
      this.#known = { isPossible, until: clock.monotonic() + milliseconds };
      return isPossible;
    };
    try {
      return remember(!(await kube.serves(ciliumNodes, { deadline: DEADLINE, signal })), REMEMBERED);
    } catch {
      signal.throwIfAborted();
      return remember(known?.isPossible ?? false, RETRIED);
    }
  }
}

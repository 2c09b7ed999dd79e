import { type KubeClient, namespaces } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";

export interface MeshOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly clock: Clock;
  /** `--path-target-ref`; undefined: the labels of the namespace decide. */
  readonly targetRef: boolean | undefined;
}

/** Milliseconds until the labels of a namespace are read again, also after a failure. */
const REMEMBERED = 60_000;
const RETRIED = 5_000;
/** Milliseconds. Requests may wait for the path. */
const DEADLINE = 1_000;

/** Finds out how Istio treats the endpoints of Services. */
export class Mesh {
  readonly #options: MeshOptions;
  readonly #known = new Map<string, { readonly namesPod: boolean; readonly until: number }>();

  constructor(options: MeshOptions) {
    this.#options = options;
  }

  /**
   * Whether endpoints of a namespace's Services name the resolver's pod. Sidecars need that for mTLS. For clients
   * in ambient mode, Istio skips endpoints that name a pod, so those of a namespace in that mode do not. If the labels
   * cannot be read, the last answer stays in force, and at first they do.
   */
  async namesPod(namespace: string, signal?: AbortSignal): Promise<boolean> {
    const { kube, clock, targetRef } = this.#options;
    if (targetRef !== undefined) return targetRef;
    const known = this.#known.get(namespace);
    if (known && clock.monotonic() < known.until) return known.namesPod;
    const remember = (namesPod: boolean, milliseconds: number) => {
      this.#known.set(namespace, { namesPod, until: clock.monotonic() + milliseconds });
      return namesPod;
    };
    try {
      const call = { deadline: DEADLINE, ...(signal === undefined ? {} : { signal }) };
      const { metadata } = await kube.resource(namespaces).get({ name: namespace }, call);
      return remember(!isAmbient(metadata.labels), REMEMBERED);
    } catch {
      signal?.throwIfAborted();
      return remember(known?.namesPod ?? true, RETRIED);
    }
  }
}

/** Pods with a sidecar are not part of the ambient mesh, whatever the other label says. */
function isAmbient(labels: Readonly<Record<string, string>> = {}): boolean {
  const hasSidecars = labels["istio-injection"] === "enabled" || labels["istio.io/rev"] !== undefined;
  return labels["istio.io/dataplane-mode"] === "ambient" && !hasSidecars;
}

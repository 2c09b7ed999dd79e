import { type CallOptions, type KubeClient, kubeErrors, type Part, type Scale } from "@evenkeel/kube";
import type { TargetRef } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { TargetForbidden, TargetNotFound } from "./errors.ts";
import { TargetResources, type TargetType } from "./target-resource.ts";

/** The part of the client that is used. */
export type ScaleClient = Pick<KubeClient, "request" | "resource">;

export interface WakeCallOptions extends ActOptions {
  readonly readFirst?: boolean;
}

/**
 * Maximum tries of a change that is refused although the replicas match, because replicas may change between the calls.
 */
const TRIES = 2;

/**
 * Reads and changes replicas of workloads. Each change is a compare-and-set in one call, so it never overwrites a
 * concurrent change.
 */
export class Scales {
  readonly #kube: ScaleClient;
  readonly #resources: TargetResources;

  constructor(kube: ScaleClient) {
    this.#kube = kube;
    this.#resources = new TargetResources(kube);
  }

  /** Discovers the type of a target, so that a wake needs no discovery. Fails if the target cannot be scaled. */
  async prepare(target: TargetRef, options: CallOptions = {}): Promise<void> {
    await this.#resources.find(target, options);
  }

  /** The `spec.replicas` of the workload. */
  async read(namespace: string, target: TargetRef, options: CallOptions = {}): Promise<number> {
    return this.#read(namespace, target, options);
  }

  /** Scales from `from` replicas to 0. `changed`: the workload did not have `from` replicas, and nothing was done. */
  async sleep(
    namespace: string,
    target: TargetRef,
    from: number,
    options: ActOptions = {},
  ): Promise<"slept" | "changed"> {
    return (await this.#change(namespace, target, { from, to: 0 }, options)) ? "slept" : "changed";
  }

  /**
   * Scales from 0 to `to` replicas. `awake`: the workload had replicas, and nothing was done. No call precedes the
   * patch, unless `readFirst` is set, for a workload that is probably awake: it is then only read.
   */
  async wake(
    namespace: string,
    target: TargetRef,
    to: number,
    { readFirst = false, ...options }: WakeCallOptions = {},
  ): Promise<"woken" | "awake"> {
    if (readFirst && (await this.#read(namespace, target, options, "urgent")) > 0) return "awake";
    return (await this.#change(namespace, target, { from: 0, to }, options, "urgent")) ? "woken" : "awake";
  }

  async #change(
    namespace: string,
    target: TargetRef,
    change: Change,
    options: ActOptions,
    lane?: "urgent",
  ): Promise<boolean> {
    const patch = { type: "json", operations: operations(change) } as const;
    for (let tried = 1; ; tried++) {
      try {
        await this.#call("patch", namespace, target, options, lane, (scale, object) =>
          scale.patch(object, patch, options),
        );
        return true;
      } catch (error) {
        if (!(error instanceof kubeErrors.Invalid) || error.causes.length > 0) throw error;
        // The server does not say whether the test failed or another check. The current replicas do.
        if ((await this.#read(namespace, target, options, lane)) !== change.from) return false;
        if (tried === TRIES) throw error;
      }
    }
  }

  async #read(namespace: string, target: TargetRef, options: CallOptions, lane?: "urgent"): Promise<number> {
    const { spec } = await this.#call("get", namespace, target, options, lane, (scale, object) =>
      scale.get(object, options),
    );
    return spec.replicas ?? 0;
  }

  async #call(
    verb: "get" | "patch",
    namespace: string,
    target: TargetRef,
    options: ActOptions,
    lane: "urgent" | undefined,
    call: (scale: Part<Scale>, object: { readonly namespace: string; readonly name: string }) => Promise<Scale>,
  ): Promise<Scale> {
    const { kind, name } = target;
    const shown = `${namespace}/${name}`;
    // A known type needs no await, so the request is sent before this returns to the caller.
    const type: TargetType = this.#resources.known(target) ?? (await this.#resources.discover(target, options));
    const { scale } = checkedBy(options, this.#kube.resource(type, lane === undefined ? {} : { lane }));
    try {
      return await call(scale, { namespace, name });
    } catch (error) {
      if (error instanceof kubeErrors.Forbidden) {
        throw new TargetForbidden({ verb, kind, target: shown }, { cause: error });
      }
      if (!(error instanceof kubeErrors.NotFound)) throw error;
      // The workload was not found, unless discovery shows that the kind or its plural no longer exists.
      await this.#resources.discover(target, options);
      throw new TargetNotFound({ kind, target: shown }, { cause: error });
    }
  }
}

interface Change {
  readonly from: number;
  readonly to: number;
}

/** The API server omits `replicas` from a Scale of 0, so 0 is an empty spec. */
function operations({ from, to }: Change) {
  const path = "/spec/replicas";
  return from === 0
    ? ([
        { op: "test", path: "/spec", value: {} },
        { op: "add", path, value: to },
      ] as const)
    : ([
        { op: "test", path, value: from },
        { op: "replace", path, value: to },
      ] as const);
}

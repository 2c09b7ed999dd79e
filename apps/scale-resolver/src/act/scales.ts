import { type CallOptions, type KubeClient, kubeErrors, type Part, type Scale } from "@evenkeel/kube";
import type { TargetRef } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { TargetForbidden, TargetNotFound } from "./errors.ts";
import { TargetResources, type TargetType } from "./target-resource.ts";

/** Of the client, what is in use. */
export type ScaleClient = Pick<KubeClient, "request" | "resource">;

/** How often a change is tried that is refused although replicas are what they were taken for: they may come and go. */
const TRIES = 2;

/** Replicas of workloads. Each change is compare-and-set, in one call: nobody's decision is undone unseen. */
export class Scales {
  readonly #kube: ScaleClient;
  readonly #resources: TargetResources;

  constructor(kube: ScaleClient) {
    this.#kube = kube;
    this.#resources = new TargetResources(kube);
  }

  /** Finds out where a target is, so that its wake need not. Fails if it is nothing that can be scaled. */
  async prepare(target: TargetRef, options: CallOptions = {}): Promise<void> {
    await this.#resources.find(target, options);
  }

  /** What the workload is set to. */
  async read(namespace: string, target: TargetRef, options: CallOptions = {}): Promise<number> {
    return this.#read(namespace, target, options);
  }

  /** Scales `from` replicas to none. `changed`: there were not `from`, and nothing was done. */
  async sleep(
    namespace: string,
    target: TargetRef,
    from: number,
    options: ActOptions = {},
  ): Promise<"slept" | "changed"> {
    return (await this.#change(namespace, target, { from, to: 0 }, options)) ? "slept" : "changed";
  }

  /** Scales none to `to` replicas. `awake`: there were some, and nothing was done. No call comes before the patch. */
  async wake(namespace: string, target: TargetRef, to: number, options: ActOptions = {}): Promise<"woken" | "awake"> {
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
        // The server does not say whether the test failed or something else displeased it. What is there now does.
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
    // A type that is known costs no turn of the event loop: the call is on its way when the caller goes on.
    const type: TargetType = this.#resources.known(target) ?? (await this.#resources.discover(target, options));
    const { scale } = checkedBy(options, this.#kube.resource(type, lane === undefined ? {} : { lane }));
    try {
      return await call(scale, { namespace, name });
    } catch (error) {
      if (error instanceof kubeErrors.Forbidden) {
        throw new TargetForbidden({ verb, kind, target: shown }, { cause: error });
      }
      if (!(error instanceof kubeErrors.NotFound)) throw error;
      // It is the workload that is not there, unless the kind is not there either, or no longer under that plural.
      await this.#resources.discover(target, options);
      throw new TargetNotFound({ kind, target: shown }, { cause: error });
    }
  }
}

interface Change {
  readonly from: number;
  readonly to: number;
}

/** The API server leaves `replicas` out of a Scale that has none, so that none is an empty spec. */
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

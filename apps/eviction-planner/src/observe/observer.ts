import type { EvictionPlanner } from "@evenkeel/api";
import { type ConfigMap, isPaused, kubeErrors, type Resource } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { LevelSnapshot } from "../decide/snapshot.ts";
import type { StoredEvictionPlanner } from "../eviction-planner-resource.ts";

export interface ObserverOptions {
  readonly configMaps: Pick<Resource<ConfigMap>, "get">;
  readonly clock: Clock;
}

/** Turns the outside world into a snapshot. What cannot be read is null in it. */
export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  async observe(
    object: StoredEvictionPlanner,
    spec: EvictionPlanner["spec"],
    signal: AbortSignal,
  ): Promise<LevelSnapshot> {
    const { namespace = "", name = "" } = object.metadata;
    const at = new Date(this.#options.clock.now()).toISOString();
    const level = await this.#level(namespace, spec.configMap, signal);
    return { at, namespace, name, level, wanted: spec.level, paused: isPaused(object), dryRun: spec.dryRun ?? false };
  }

  async #level(namespace: string, name: string, signal: AbortSignal): Promise<number | null> {
    try {
      const { data } = await this.#options.configMaps.get({ namespace, name }, { signal });
      const text = data?.["level"] ?? "";
      return /^-?\d{1,15}$/.test(text) ? Number(text) : null;
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) return null;
      throw error;
    }
  }
}

import { keyOf, type StatusWriter } from "@evenkeel/kube";
import type { Term } from "@evenkeel/runtime";
import type { AutoscalerRef } from "../binding.ts";
import type { State } from "../decide/state.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";

/** The ScaledObject that is paused since its workload was put to sleep: empty if it has none, null if it was not put to sleep here. */
export type Paused = string | null;

/** The ScaledObject to pause while a workload sleeps; empty: there is none. */
export function scaledObjectOf(autoscaler: AutoscalerRef | null): string {
  return autoscaler?.type === "keda" ? autoscaler.name : "";
}

/**
 * What is to be paused in a state, of what is paused by now and what the spec names.
 *
 *     paused      state         to be paused
 *     null        any           null: somebody else set the workload to zero, and KEDA may be who wakes it
 *     any         Serve         null
 *     any         Zero          what is named
 *     the named   Guard, Wake   the same: pods may be leaving as well as coming
 *     another     Guard, Wake   nothing, and what is named once it is known that the workload sleeps
 */
export function pauseIn(state: State, paused: Paused, named: string): Paused {
  if (paused === null || state === "Serve") return null;
  if (state === "Zero" || paused === named) return named;
  return "";
}

/** Writes statuses of ElastiServices. */
export type Statuses = Pick<StatusWriter<StoredElastiService, ElastiServiceStatus>, "write">;

interface Page {
  readonly paused: Paused;
  /** Whether this process has seen it paused. One that is not there may come. */
  readonly certain: boolean;
}

/**
 * What is paused for whom. It is in the status, where whoever leads next finds it, and is kept here besides, since the status that is seen may be
 * older than what was written.
 */
export class PausedScaledObjects {
  readonly #statuses: Statuses;
  /** By key of the ElastiService. */
  readonly #pages = new Map<string, Page>();

  constructor(statuses: Statuses) {
    this.#statuses = statuses;
  }

  of(object: StoredElastiService): Paused {
    return this.#page(object).paused;
  }

  isCertain(object: StoredElastiService): boolean {
    const { paused, certain } = this.#page(object);
    return certain || !paused;
  }

  /** To be called before a ScaledObject is paused: of a process that ends right after it, nothing else is left. */
  async enter(object: StoredElastiService, scaledObject: string, term: Pick<Term, "signal">): Promise<void> {
    if (this.of(object) === scaledObject) return;
    // That nothing is paused can wait for the end of the turn.
    if (scaledObject !== "") await this.#statuses.write(object, { pausedScaledObject: scaledObject }, term);
    this.#pages.set(keyOf(object), { paused: scaledObject, certain: false });
  }

  confirm(object: StoredElastiService): void {
    this.#pages.set(keyOf(object), { paused: this.of(object), certain: true });
  }

  /** To be called once nothing is paused any more. The status follows with the end of a turn that sees it there. */
  strike(object: StoredElastiService): void {
    this.#pages.set(keyOf(object), { paused: null, certain: true });
  }

  forget(key: string): void {
    this.#pages.delete(key);
  }

  clear(): void {
    this.#pages.clear();
  }

  #page(object: StoredElastiService): Page {
    const { pausedScaledObject = null } = object.status ?? {};
    return this.#pages.get(keyOf(object)) ?? { paused: pausedScaledObject, certain: false };
  }
}

import { keyOf, type StatusWriter } from "@evenkeel/kube";
import type { Term } from "@evenkeel/runtime";
import type { AutoscalerRef } from "../binding.ts";
import type { State } from "../decide/state.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";

/**
 * The ScaledObject that is paused while its workload sleeps. Empty: the workload has none. Null: this program did not
 * scale the workload to 0.
 */
export type Paused = string | null;

/** The ScaledObject to pause while a workload sleeps; empty if there is none. */
export function scaledObjectOf(autoscaler: AutoscalerRef | null): string {
  return autoscaler?.type === "keda" ? autoscaler.name : "";
}

/**
 * The ScaledObject that must be paused in a state, by the one that is paused now and the one that the spec names.
 *
 *     paused      state         must be paused
 *     null        any           null: another client scaled the workload to 0, and KEDA may be what wakes it
 *     any         Serve         null
 *     any         Zero          the named one
 *     the named   Guard, Wake   the same: pods may be terminating or starting
 *     another     Guard, Wake   none; the named one once the workload is known to sleep
 */
export function pauseIn(state: State, paused: Paused, named: string): Paused {
  if (paused === null || state === "Serve") return null;
  if (state === "Zero" || paused === named) return named;
  return "";
}

/** Writes statuses of ElastiServices. */
export type Statuses = Pick<StatusWriter<StoredElastiService, ElastiServiceStatus>, "write">;

interface PauseRecord {
  readonly paused: Paused;
  /** Whether this process has seen it paused. A ScaledObject that did not exist may be created later. */
  readonly certain: boolean;
}

/**
 * Tracks which ScaledObject is paused for each ElastiService. The status has the record for the next leader. This copy
 * exists because the cached status may be older than the last write.
 */
export class PausedScaledObjects {
  readonly #statuses: Statuses;
  /** By key of the ElastiService. */
  readonly #records = new Map<string, PauseRecord>();
  /** The ScaledObject that a wake may have prevented from scaling to zero, by key of the ElastiService. */
  readonly #named = new Map<string, string>();

  constructor(statuses: Statuses) {
    this.#statuses = statuses;
  }

  of(object: StoredElastiService): Paused {
    return this.#record(object).paused;
  }

  isCertain(object: StoredElastiService): boolean {
    const { paused, certain } = this.#record(object);
    return certain || !paused;
  }

  /**
   * Call this before a ScaledObject is paused. If the process stops right after the pause, this record is what remains.
   */
  async recordPaused(object: StoredElastiService, scaledObject: string, term: Pick<Term, "signal">): Promise<void> {
    if (this.of(object) === scaledObject) return;
    // A record that nothing is paused is written at the end of the reconcile.
    if (scaledObject !== "") await this.#statuses.write(object, { pausedScaledObject: scaledObject }, term);
    this.#records.set(keyOf(object), { paused: scaledObject, certain: false });
  }

  confirm(object: StoredElastiService): void {
    this.#records.set(keyOf(object), { paused: this.of(object), certain: true });
  }

  /** Call this after the ScaledObject was resumed. The status is written at the end of the reconcile. */
  recordResumed(object: StoredElastiService): void {
    this.#records.set(keyOf(object), { paused: null, certain: true });
  }

  /**
   * The ScaledObject that the spec named when it was last recorded; empty if none is known. The status has it for the
   * next leader.
   */
  formerlyNamed(object: StoredElastiService): string {
    return this.#named.get(keyOf(object)) ?? object.status?.scaledObject ?? "";
  }

  /** Call this after the one that was named before was released. */
  recordNamed(object: StoredElastiService, scaledObject: string): void {
    this.#named.set(keyOf(object), scaledObject);
  }

  forget(key: string): void {
    this.#records.delete(key);
    this.#named.delete(key);
  }

  forgetAll(): void {
    this.#records.clear();
    this.#named.clear();
  }

  #record(object: StoredElastiService): PauseRecord {
    const { pausedScaledObject = null } = object.status ?? {};
    return this.#records.get(keyOf(object)) ?? { paused: pausedScaledObject, certain: false };
  }
}

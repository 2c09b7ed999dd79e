import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@evenkeel/runtime";
import type { Binding } from "../../binding.ts";
import type { TriggerReading } from "../../decide/snapshot.ts";

/** What a reading is of. */
export type ReadBinding = Pick<Binding, "namespace" | "name" | "uid" | "generation" | "triggers" | "cooldown">;

export interface ReadingsOptions {
  /** Reads all triggers, for as long as the metric servers take. It never rejects. */
  readonly read: (binding: ReadBinding) => Promise<readonly TriggerReading[]>;
  /** Called when readings have arrived that `read` did not return. */
  readonly arrived: (binding: ReadBinding) => void;
  readonly clock: Clock;
}

/** Milliseconds after which readings that no reconcile has taken are no longer used. */
const LIFE = 5000;

interface Reading {
  readonly generation: number;
  /** Undefined until the metric servers have answered. */
  arrived?: { readonly readings: readonly TriggerReading[]; readonly at: number };
}

/**
 * Reads triggers while no reconcile waits for them: a metric server that is slow must delay neither the reconcile of a
 * service whose last pod ends meanwhile, nor those of other services, for which no worker would be left.
 */
export class Readings {
  readonly #options: ReadingsOptions;
  /** By the uid of the ElastiService, the oldest first. */
  readonly #readings = new Map<string, Reading>();

  constructor(options: ReadingsOptions) {
    this.#options = options;
  }

  /** Number of readings that have not been returned. */
  get kept(): number {
    return this.#readings.size;
  }

  /**
   * One reading for each trigger. Undefined if the metric servers have not answered yet: `arrived` is called when they
   * have, and the next call returns the readings.
   */
  async read(binding: ReadBinding): Promise<readonly TriggerReading[] | undefined> {
    const { uid, generation } = binding;
    const known = this.#readings.get(uid);
    if (known?.generation === generation) {
      if (!known.arrived) return undefined;
      this.#readings.delete(uid);
      if (!this.#isOld(known)) return known.arrived.readings;
    }
    this.#sweep();
    const reading: Reading = { generation };
    this.#readings.delete(uid);
    this.#readings.set(uid, reading);
    let isLate = false;
    const whenArrived = this.#options.read(binding).then((readings) => {
      reading.arrived = { readings, at: this.#options.clock.monotonic() };
      if (isLate && this.#readings.get(uid) === reading) this.#options.arrived(binding);
    });
    // Answers that are known already arrive before the next turn of the event loop.
    await Promise.race([whenArrived, nextTurn()]);
    if (reading.arrived) this.#readings.delete(uid);
    isLate = true;
    return (reading as Readonly<Reading>).arrived?.readings;
  }

  #isOld({ arrived }: Reading): boolean {
    return arrived !== undefined && this.#options.clock.monotonic() - arrived.at >= LIFE;
  }

  /** Removes readings of services that no longer need them, or no longer exist. */
  #sweep(): void {
    for (const [uid, reading] of this.#readings) {
      if (!this.#isOld(reading)) return;
      this.#readings.delete(uid);
    }
  }
}

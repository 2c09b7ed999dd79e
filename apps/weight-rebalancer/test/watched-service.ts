import { type Clock, main, systemClock } from "@evenkeel/runtime";
import { FakeHost } from "@evenkeel/runtime/testing";
import type { RecordSet } from "@evenkeel/sim";
import { composeWeightRebalancer } from "../src/compose.ts";
import type { WeightSnapshot } from "../src/decide/snapshot.ts";
import { weightDecider, type WeightVerdict } from "../src/decide/weight-decider.ts";
import { weightRebalancer } from "../src/definition.ts";
import type { World } from "./world.ts";

export interface Decided {
  /** By this process's wall clock, whatever the service's says. */
  readonly at: number;
  readonly snapshot: WeightSnapshot;
  readonly verdict: WeightVerdict;
}

/** The whole service in this process, with a record of every snapshot that it decided on, repeats too. */
export class WatchedService implements AsyncDisposable {
  readonly decided: Decided[] = [];
  readonly #host: FakeHost;
  readonly #end: Promise<void>;

  constructor(world: World, flags: readonly string[] = [], clock: Clock = systemClock) {
    const local = ["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", "--shutdown-delay=0"];
    this.#host = new FakeHost([...world.flags(flags), ...local], {});
    const decide = (snapshot: WeightSnapshot): WeightVerdict => {
      const verdict = weightDecider.decide(snapshot);
      // As a recording has it: nothing of what led to the decision may be lost in JSON.
      this.decided.push({ at: Date.now(), snapshot: JSON.parse(JSON.stringify(snapshot)) as WeightSnapshot, verdict });
      return verdict;
    };
    const definition = { ...weightRebalancer, decider: { ...weightDecider, decide } };
    const compose = (service: Parameters<typeof composeWeightRebalancer>[0]) =>
      composeWeightRebalancer(service, process.env, import.meta.url);
    this.#end = main(definition, this.#host.host, compose, clock);
  }

  get lines(): FakeHost["lines"] {
    return this.#host.lines;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#host.emit("SIGTERM");
    await this.#end;
  }
}

/** A change that Route 53 took. */
export interface Change {
  readonly at: number;
  readonly after?: RecordSet;
}

/** Why a change is not what a recorded snapshot of the last `age` milliseconds asks for; nothing if it is. */
export function unexplained({ at, after }: Change, decided: readonly Decided[], age: number): string | undefined {
  const weight = after?.weight ?? NaN;
  const recent = decided.filter((each) => each.at <= at && at - each.at <= age);
  const explains = ({ snapshot }: Decided) => {
    const { action, after: wanted } = weightDecider.decide(snapshot);
    return action !== "hold" && wanted !== null && Math.min(wanted, 255) === weight;
  };
  if (recent.some(explains)) return undefined;
  const asked = recent.map(({ verdict }) => `${verdict.action} ${String(verdict.after)}`).join(", ");
  return `weight ${weight} was written, and in the ${age} ms before there was: ${asked || "nothing"}`;
}

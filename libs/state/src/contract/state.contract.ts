import { afterAll, beforeAll, describe } from "@jest/globals";
import { countersContract } from "./counters.contract.ts";
import { decisionsContract } from "./decisions.contract.ts";
import { edgesContract } from "./edges.contract.ts";
import { modelContract } from "./model.contract.ts";
import { recordsContract } from "./records.contract.ts";
import type { Replicas } from "./replicas.ts";
import type { State } from "../state.ts";
import { streamsContract } from "./streams.contract.ts";

/** One home of the state, as the contract needs it. */
export interface StateHarness {
  /** A handle on the same store with each call; on Redis another client. */
  readonly open: () => Promise<State>;
  /** Lets time pass on the clock by which the store ends counts. */
  readonly elapse: (milliseconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Registers every case that each home of the state must pass. */
export function stateContract(home: string, start: () => Promise<StateHarness>): void {
  describe(home, () => {
    let harness: StateHarness | undefined;
    let replicas: Replicas | undefined;

    beforeAll(async () => {
      const started = await start();
      harness = started;
      replicas = {
        one: await started.open(),
        other: await started.open(),
        elapse: (milliseconds) => started.elapse(milliseconds),
      };
    });
    afterAll(() => harness?.close());

    const given = (): Replicas => {
      if (!replicas) throw new Error("the harness did not start");
      return replicas;
    };
    describe("records", () => recordsContract(given));
    describe("records under any interleaving", () => modelContract(given));
    describe("counters", () => countersContract(given));
    describe("streams", () => streamsContract(given));
    describe("edges", () => edgesContract(given));
    describe("decisions", () => decisionsContract(given));
  });
}

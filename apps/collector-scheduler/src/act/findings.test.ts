import { expect, test } from "@jest/globals";
import { planOf } from "../decide/plan.ts";
import { Fleet } from "../testing/fleet.ts";
import { findingsOf, type Reconciled } from "./findings.ts";

const loadsKnown = (loadFault: string | null, staleLoads: string | null) => {
  const snapshot = new Fleet().snapshot({ loadFault });
  const catalogue = { sources: [], answered: true, heldBack: 0 };
  return findingsOf({
    ...{ snapshot, plan: planOf(snapshot), now: 0, stateAvailable: true, workloadFault: undefined },
    fleet: { fault: undefined, faults: [], jobs: [], catalogue } as unknown as Reconciled["fleet"],
    decision: { reason: "Balanced", message: "" },
    sight: { autoscalers: [], silent: [], staleLoads },
  })["LoadsKnown"];
};

test("LoadsKnown says whether series were never counted, or not lately", () => {
  expect(loadsKnown(null, null)).toMatchObject({ holds: true });
  expect(loadsKnown("Prometheus is away", null)).toMatchObject({ holds: false, reason: "NoSeries" });
  expect(loadsKnown(null, "Prometheus is away")).toMatchObject({ holds: false, reason: "Stale" });
});

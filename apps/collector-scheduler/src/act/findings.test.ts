import { expect, test } from "@jest/globals";
import { planOf } from "../decide/plan.ts";
import { Fleet } from "../testing/fleet.ts";
import { findingsOf, type Reconciled } from "./findings.ts";

interface Told {
  readonly loadFault?: string | null;
  readonly staleLoads?: string | null;
  readonly fleet?: Partial<Reconciled["fleet"]>;
}

const findings = ({ loadFault = null, staleLoads = null, fleet = {} }: Told) => {
  const snapshot = new Fleet().snapshot({ loadFault });
  const catalogue = { sources: [], answered: true, heldBack: 0 };
  return findingsOf({
    ...{ snapshot, plan: planOf(snapshot), now: 0, stateAvailable: true, workloadFault: undefined },
    fleet: { fault: undefined, faults: [], jobs: [], catalogue, ...fleet } as unknown as Reconciled["fleet"],
    decision: { reason: "Balanced", message: "" },
    sight: { autoscalers: [], silent: [], staleLoads },
  });
};

test("LoadsKnown says whether series were never counted, or not lately", () => {
  const [away, loadsKnown] = ["Prometheus is away", (told: Told) => findings(told)["LoadsKnown"]];
  expect(loadsKnown({})).toMatchObject({ holds: true });
  expect(loadsKnown({ loadFault: away })).toMatchObject({ holds: false, reason: "NoSeries" });
  expect(loadsKnown({ staleLoads: away })).toMatchObject({ holds: false, reason: "Stale" });
});

test("an unreadable configuration leaves the one before in force only if there was one since the start", () => {
  const message = (fleet: Partial<Reconciled["fleet"]>) =>
    findings({ fleet: { fault: "bad indentation", ...fleet } })["ConfigValid"]?.message;
  const before = { yaml: {} } as unknown as NonNullable<Reconciled["fleet"]["configuration"]>;
  expect(message({ configuration: before })).not.toContain("503");
  expect(message({ configuration: undefined })).toContain("503");
});

import { describe, expect, test } from "@jest/globals";
import { stateDecider } from "../decide/state-decider.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { BUSY, type Changes, checkout, NOON, quietService, secondsAgo } from "../testing/quiet-service.ts";
import type { PodStop } from "../observe/targets.ts";
import { statusAfter } from "./status.ts";

const now = Date.parse(NOON);
const inMinutes = (minutes: number) => now + minutes * 60_000;

/** The status after a reconcile of a service that is idle since then, and otherwise unchanged. */
function after(
  before: ElastiServiceStatus | undefined,
  idleSince: number | null,
  changes: Changes = {},
  refusedProbes: readonly string[] = [],
  stop: PodStop | null = null,
  autoscalerFault: string | null = null,
  isScaledObjectMade = false,
  unknownWakePorts: readonly (string | number)[] = [],
  hasTriggers = true,
) {
  const snapshot = quietService({ triggers: [BUSY], ...changes });
  const { target } = checkout;
  const reconciled = { snapshot, decision: stateDecider.decide(snapshot), stage: snapshot.stage, ports: [], target };
  const rest = {
    route: null,
    replicas: null,
    paused: null,
    scaledObject: "",
    failure: undefined,
    lastWakeMs: null,
    refusedProbes,
    unknownWakePorts,
    hasTriggers,
    stop,
    autoscalerFault,
    isScaledObjectMade,
  };
  // As it is then stored: nothing here removes a field.
  return statusAfter(before, { ...reconciled, ...rest, idleSince }, now) as ElastiServiceStatus;
}

describe("the time from which a cooldown counts", () => {
  test("is on record for the next leader", () => {
    expect(after(undefined, secondsAgo(5)).lastScaledUpTime).toBe("2026-11-16T11:59:55Z");
  });

  test("is not on record of a service that had neither traffic nor a wake", () => {
    expect(after(undefined, null).lastScaledUpTime).toBeUndefined();
  });

  test("is written when it is a tenth of the cooldown later, so that traffic writes no status at each look", () => {
    const first = after(undefined, now);
    expect(after(first, inMinutes(1))).toBe(first);
    expect(after(first, inMinutes(1.5)).lastScaledUpTime).toBe("2026-11-16T12:01:30Z");
  });

  test("is written exactly with anything else, such as the end of traffic", () => {
    const first = after(undefined, now);
    const last = after(first, inMinutes(1), { triggers: [{ ...BUSY, verdict: "idle" }] });
    expect(last.lastScaledUpTime).toBe("2026-11-16T12:01:00Z");
  });
});

describe("triggers", () => {
  const triggers = (status: ElastiServiceStatus) => status.conditions?.find(({ type }) => type === "TriggersAvailable");
  const silent = after(undefined, null, { triggers: [{ ...BUSY, verdict: "unknown" }] });
  /** After a reconcile of a spec without triggers. */
  const without = (before: ElastiServiceStatus | undefined) =>
    after(before, null, { triggers: [] }, [], null, null, false, [], false);

  test("become available when they are removed, and have no condition if there never were any", () => {
    expect(triggers(silent)).toMatchObject({ status: "False", reason: "TriggerUnknown" });
    expect(triggers(without(silent))).toMatchObject({ status: "True", reason: "NoTriggers" });
    expect(triggers(without(undefined))).toBeUndefined();
  });

  test("that were not read, as while no pod is ready, are said to be as they were", () => {
    const read = after(undefined, null);
    expect(triggers(after(read, null, { triggers: [] }))).toMatchObject({ status: "True", reason: "Read" });
    expect(triggers(after(silent, null, { triggers: [] }))).toMatchObject({ status: "False" });
    expect(triggers(after(undefined, null, { triggers: [] }))).toBeUndefined();
  });
});

describe("a rule of probeResponse that cannot be used", () => {
  const refused = ["the regular expression in probeResponse[0].path is not used"];
  const probed = (before: ElastiServiceStatus | undefined, ...faults: readonly string[]) => {
    const status = after(before, null, {}, faults);
    return { status, condition: status.conditions?.find(({ type }) => type === "ProbeRulesUsed") };
  };

  test("is a condition that says which and why, and costs the service nothing else", () => {
    const { status, condition } = probed(undefined, ...refused);
    expect(condition).toMatchObject({ status: "False", reason: "PatternRefused", message: refused[0] });
    expect(status.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });

  test("is said to be mended, and of services that never had one nothing is said", () => {
    const { status } = probed(undefined, ...refused);
    expect(probed(status).condition).toMatchObject({ status: "True", reason: "Used" });
    expect(probed(undefined).condition).toBeUndefined();
  });
});

describe("pods that may not serve until nodes know that they terminate", () => {
  const stopping = (before: ElastiServiceStatus | undefined, stop: PodStop | null) => {
    const status = after(before, null, {}, [], stop);
    return { status, condition: status.conditions?.find(({ type }) => type === "PodsDrain") };
  };
  const DRAINS = { hasPreStop: true, graceSeconds: 30 };

  test.each([
    ["have no preStop hook", { hasPreStop: false, graceSeconds: 30 }, "Unknown", "NoPreStop"],
    ["have no time for one", { hasPreStop: true, graceSeconds: 1 }, "False", "NoGracePeriod"],
    ["are killed at once", { hasPreStop: false, graceSeconds: 0 }, "False", "NoGracePeriod"],
  ])("are a warning if they %s", (_name, stop, status, reason) => {
    const warned = stopping(undefined, stop);
    expect(warned.condition).toMatchObject({ status, reason });
    expect(warned.status.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });

  test("are said to be mended, and of those that always drained, or are not known, nothing is said", () => {
    const { status } = stopping(undefined, { hasPreStop: false, graceSeconds: 30 });
    expect(stopping(status, DRAINS).condition).toMatchObject({ status: "True", reason: "PreStop" });
    expect(stopping(status, null).condition).toMatchObject({ status: "Unknown" });
    expect(stopping(undefined, DRAINS).condition).toBeUndefined();
    expect(stopping(undefined, null).condition).toBeUndefined();
  });
});

test("an autoscaler that would undo a wake is a condition that says so, until it is mended", () => {
  const judged = (before: ElastiServiceStatus | undefined, fault: string | null) => {
    const status = after(before, null, {}, [], null, fault);
    return { status, condition: status.conditions?.find(({ type }) => type === "AutoscalerCompatible") };
  };
  const { status, condition } = judged(undefined, "KEDA 2.17 scales it to 0");
  expect(condition).toMatchObject({ status: "False", reason: "MinReplicaCountZero" });
  expect(judged(status, null).condition).toMatchObject({ status: "True" });
  expect(judged(undefined, null).condition).toBeUndefined();
});

test("a ScaledObject that scale-resolver creates is said not to scale a warm service up, until it is the user's own", () => {
  const growth = (status: ElastiServiceStatus) => status.conditions?.find(({ type }) => type === "AutoscalerGrows");
  expect(growth(after(undefined, null))).toBeUndefined();
  const made = after(undefined, null, {}, [], null, null, true);
  expect(growth(made)).toMatchObject({ status: "False", reason: "OnlyThroughResolver" });
  expect(made.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  expect(growth(after(made, null))).toMatchObject({ status: "True", reason: "NotCreated" });
});

test("a port of wakePorts that the Service does not have is a condition that names it, until it is corrected", () => {
  const found = (status: ElastiServiceStatus) => status.conditions?.find(({ type }) => type === "WakePortsFound");
  expect(found(after(undefined, null))).toBeUndefined();
  const wrong = after(undefined, null, {}, [], null, null, false, ["htpp", 9090]);
  expect(found(wrong)).toMatchObject({ status: "False", reason: "PortNotFound" });
  expect(found(wrong)?.message).toMatch(/htpp, 9090/);
  expect(found(after(wrong, null))).toMatchObject({ status: "True", reason: "Found" });
});

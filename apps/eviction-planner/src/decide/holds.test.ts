import { describe, expect, test } from "@jest/globals";
import { NO_MEMORY, NOW, type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { holdSentence } from "./explain.ts";
import { plan } from "./plan.ts";
import { type PlanMemory, type PlanSnapshot, POD } from "./snapshot.ts";

type Policy = PlanSnapshot["policy"]["spec"];

interface Change {
  readonly pod?: Partial<PodSpec>;
  readonly world?: Partial<World>;
  readonly policy?: Partial<Policy>;
  readonly memory?: Partial<PlanMemory>;
}

/** A pod on a hot node, which would be moved if nothing held it. */
function holdOf({ pod = {}, world = {}, policy = {}, memory }: Change): string {
  const hot = { level: "above", since: NOW - 60_000 } as const;
  const snapshot = snapshotOf(
    {
      nodes: [{ name: "a", rest: 0.3 }, { name: "b" }],
      pods: [
        { name: "pod", node: "a", load: 0.4, owner: "web", ...pod },
        { name: "other", node: "a", load: 0.2, flags: POD.pinned },
      ],
      ...world,
    },
    policy,
    memory === undefined ? {} : { memory: { ...NO_MEMORY, levels: { a: hot }, ...memory } },
  );
  const { moves, stays } = plan(snapshot);
  if (moves.some(({ pod }) => pod.name === "pod")) return "moved";
  const stay = stays.find(({ pod }) => pod.name === "pod");
  return `${stay?.code}${stay?.by == null ? "" : ` by ${stay.by}`}`;
}

const slo = (name: string, spec: World["slos"] extends readonly (infer Row)[] | undefined ? Partial<Row> : never) => ({
  namespace: "shop",
  name,
  spec: {},
  ...spec,
});

const ready = (secondsAgo: number) => ({ readySince: NOW - secondsAgo * 1000 });

const MINUTE = 60_000;
const measured = { nodes: [{ name: "a", rest: 0.3, row: { measuredSince: NOW - 5 * MINUTE } }, { name: "b" }] };

describe("a pod of a hot node is moved", () => {
  test.each<[string, Change]>([
    ["if nothing holds it", {}],
    ["if it is selected", { policy: { workloadSelectors: [{ matchLabels: { a: "x" } }, {}] } }],
    ["if all namespaces are included", { policy: { namespaces: { include: ["*"] } } }],
    ["if its priority is high and not that of a system component", { pod: { priority: 1_999_999_999 } }],
    ["if its emptyDir volumes are within the limit", { pod: { flags: POD.emptyDir, emptyDirBytes: 2 * 2 ** 30 } }],
    [
      "if it belongs to a StatefulSet and a WorkloadSLO allows that",
      {
        world: {
          owners: { web: { kind: "StatefulSet" } },
          slos: [slo("one", { spec: { allowStatefulSetEviction: true } }), slo("two", {})],
        },
      },
    ],
    [
      "if it started just now and requests count",
      {
        pod: { startedAt: NOW - 1000 },
        policy: { basis: "requests", hotThreshold: 0.5, coldThreshold: 0.1, hysteresis: 0 },
      },
    ],
    [
      "if its node was measured since the last pod that was evicted was gone",
      { world: measured, memory: { departures: [{ node: "a", at: NOW - 6 * MINUTE }] } },
    ],
    ["if it is unknown since when its node was measured", { memory: { departures: [{ node: "a", at: NOW }] } }],
    [
      "if requests count, however its node was measured",
      {
        world: measured,
        policy: { basis: "requests", hotThreshold: 0.5, coldThreshold: 0.1, hysteresis: 0 },
        memory: { departures: [{ node: "a", at: NOW }] },
      },
    ],
    ["if its PodDisruptionBudget allows one disruption", { world: { disruptionBudgets: [{ disruptionsAllowed: 1 }] } }],
    [
      "if PodDisruptionBudgets are not respected",
      { world: { disruptionBudgets: [{ disruptionsAllowed: 0 }] }, policy: { respectPDB: false } },
    ],
    [
      "if a PodDisruptionBudget has no selector",
      { world: { disruptionBudgets: [{ disruptionsAllowed: 0, selector: null }] } },
    ],
    [
      "if the selector of a PodDisruptionBudget is wrong, as the API server has it",
      {
        world: {
          disruptionBudgets: [
            { disruptionsAllowed: 0, selector: { matchExpressions: [{ key: "a", operator: "Resembles" }] } },
          ],
        },
      },
    ],
    ["if a limit is absent", { world: { slos: [slo("one", {})] } }],
    [
      "if its back-off is over by the clock of the windows",
      { memory: { at: NOW + 2, backOffs: [{ owner: "workload-web", node: "a", until: NOW + 1 }] } },
    ],
    ["if its back-off is over", { memory: { backOffs: [{ owner: "workload-web", node: "a", until: NOW }] } }],
    [
      "if its workload came back to another node",
      { memory: { backOffs: [{ owner: "workload-web", node: "b", until: NOW + 1 }] } },
    ],
  ])("%s", (_sentence, change) => {
    expect(holdOf(change)).toBe("moved");
  });
});

describe("a pod of a hot node stays", () => {
  test.each<[string, Change, string]>([
    ["in a namespace that is not included", { policy: { namespaces: { include: ["other"] } } }, "NotSelected"],
    ["in an excluded namespace", { policy: { namespaces: { include: ["*"], exclude: ["shop"] } } }, "NotSelected"],
    ["if no selector matches", { policy: { workloadSelectors: [{ matchLabels: { a: "x" } }] } }, "NotSelected"],
    [
      "if it is critical, whatever the policy says",
      { pod: { priority: 2e9 }, policy: { respectPodPriority: false } },
      "Critical",
    ],
    ["if it is a mirror pod", { pod: { flags: POD.mirror, owner: null } }, "Mirror"],
    ["if it belongs to a DaemonSet", { world: { owners: { web: { kind: "DaemonSet" } } } }, "DaemonSet"],
    ["if it belongs to a Job", { world: { owners: { web: { kind: "Job" } } } }, "Job"],
    ["if it has no controller", { pod: { owner: null } }, "Ownerless"],
    ["if it is pinned", { pod: { flags: POD.pinned } }, "Pinned"],
    ["if its annotation forbids moves", { pod: { flags: POD.moveForbidden } }, "MoveForbidden"],
    ["if the cluster autoscaler must not evict it", { pod: { flags: POD.safeToEvictFalse } }, "SafeToEvictFalse"],
    ["if Karpenter must not disrupt it", { pod: { flags: POD.doNotDisrupt } }, "DoNotDisrupt"],
    ["with a hostPath volume", { pod: { flags: POD.hostPath } }, "HostPath"],
    ["with a local volume", { pod: { flags: POD.localVolume } }, "LocalVolume"],
    ["with too large an emptyDir", { pod: { flags: POD.emptyDir, emptyDirBytes: 2 * 2 ** 30 + 1 } }, "EmptyDir"],
    ["with an emptyDir without a limit", { pod: { flags: POD.emptyDir, emptyDirBytes: -1 } }, "EmptyDir"],
    [
      "if the scheduler's choice is not modelled",
      { pod: { shape: { unmodelled: "OtherScheduler" } } },
      "Unmodelled by OtherScheduler",
    ],
    [
      "if it is terminating",
      { pod: { flags: POD.terminating }, world: { nodes: [{ name: "a", rest: 0.7 }, { name: "b" }] } },
      "Terminating",
    ],
    ["if it is pending", { pod: { flags: POD.pending } }, "Pending"],
    ["if it is not ready", { pod: { readySince: -1 } }, "NotReady"],
    ["if it is young", { pod: { startedAt: NOW - 119_000 } }, "Young"],
    [
      "if its owner wants it ready for longer",
      { pod: ready(9), world: { owners: { web: { minReadySeconds: 10 } } } },
      "MinReadySeconds",
    ],
    [
      "if the strictest WorkloadSLO wants it ready for longer",
      {
        pod: ready(15),
        world: {
          slos: [slo("mild", { spec: { minReadySeconds: 10 } }), slo("strict", { spec: { minReadySeconds: 20 } })],
        },
      },
      "MinReadySeconds by shop/strict",
    ],
    ["during a rollout", { world: { owners: { web: { rollout: "underWay" } } } }, "RolloutUnderWay"],
    ["while its rollout is paused", { world: { owners: { web: { rollout: "paused" } } } }, "RolloutUnderWay"],
    [
      "if nobody knows whether there is a rollout",
      { world: { owners: { web: { rollout: "unknown" } } } },
      "RolloutUnderWay",
    ],
    ["if its replacement would have another template", { pod: { flags: POD.otherRevision } }, "OtherRevision"],
    [
      "if its usage is unknown",
      { pod: { load: null }, world: { nodes: [{ name: "a", rest: 0.7 }, { name: "b" }] } },
      "UsageUnknown",
    ],
    [
      "with any one protected label",
      {
        pod: { labels: { app: "api", tier: "gold" } },
        world: { slos: [slo("guard", { spec: { protectedLabels: { tier: "gold", app: "other" } } })] },
      },
      "ProtectedLabel by shop/guard",
    ],
    ["in a StatefulSet without consent", { world: { owners: { web: { kind: "StatefulSet" } } } }, "StatefulSet"],
    [
      "in a StatefulSet if one of two WorkloadSLOs forbids it",
      {
        world: {
          owners: { web: { kind: "StatefulSet" } },
          slos: [
            slo("yes", { spec: { allowStatefulSetEviction: true } }),
            slo("no", { spec: { allowStatefulSetEviction: false } }),
          ],
        },
      },
      "StatefulSet by shop/no",
    ],
    [
      "if its PodDisruptionBudget allows nothing",
      { world: { disruptionBudgets: [{ disruptionsAllowed: 0 }] } },
      "DisruptionBudget by shop/budget",
    ],
    [
      "if its PodDisruptionBudget is stale",
      { world: { disruptionBudgets: [{ isCurrent: false }] } },
      "DisruptionBudgetStale by shop/budget",
    ],
    [
      "if two PodDisruptionBudgets match, even if none is respected",
      { world: { disruptionBudgets: [{ name: "one" }, { name: "two" }] }, policy: { respectPDB: false } },
      "SeveralDisruptionBudgets by shop/one, shop/two",
    ],
    [
      "if a WorkloadSLO allows 0 disruptions",
      { world: { slos: [slo("zero", { spec: { maxDisruptionsPerHour: 0 } })] } },
      "HourlyLimit by shop/zero",
    ],
    [
      "if earlier plans used up the hour of the strictest WorkloadSLO",
      {
        world: {
          slos: [
            slo("wide", { spec: { maxDisruptionsPerHour: 9 } }),
            slo("narrow", { spec: { maxDisruptionsPerHour: 2 } }),
          ],
        },
        memory: { lastHour: { "shop/wide": 2, "shop/narrow": 2 } },
      },
      "HourlyLimit by shop/narrow",
    ],
    [
      "if the policy allows 0 evictions in a namespace",
      { policy: { maxEvictionsPerNamespace: 0 } },
      "NamespaceLimit by shop",
    ],
    [
      "if the policy allows 0 evictions in a minute",
      { policy: { maxEvictionsPerMinute: 0 }, memory: {} },
      "MinuteLimit",
    ],
    ["if the minute is used up", { policy: { maxEvictionsPerMinute: 3 }, memory: { lastMinute: 3 } }, "MinuteLimit"],
    [
      "while another pod of its owner is being moved",
      { memory: { inFlight: [{ owner: "owner-web", shape: 0, from: "b", expected: [] }] } },
      "OwnerInFlight",
    ],
    [
      "while another pod of its node is being moved",
      { memory: { inFlight: [{ owner: "gone", shape: 0, from: "a", expected: [] }] } },
      "NodeInFlight",
    ],
    [
      "while the usage of its node contains a pod that was evicted and is gone",
      { world: measured, memory: { departures: [{ node: "a", at: NOW - 2 * MINUTE }] } },
      "NodeInFlight",
    ],
    [
      "during its back-off",
      { memory: { backOffs: [{ owner: "workload-web", node: "a", until: NOW + 1 }] } },
      "BackOff",
    ],
    [
      "while the replacement of a pod of its workload does not become ready",
      { memory: { unreplaced: ["workload-web"] } },
      "ReplacementNotReady",
    ],
    [
      "after its eviction was refused",
      { memory: { refused: [{ pod: "uid-pod", by: "PeerRefused" }] } },
      "Refused by PeerRefused",
    ],
    [
      "if no other node is feasible",
      { pod: { requested: 0.6, shape: { nodeSelector: { "kubernetes.io/hostname": "a" } } } },
      "NoOtherNode",
    ],
    [
      "if it would find room only by preemption",
      { pod: { requested: 0.6, shape: { nodeSelector: { "kubernetes.io/hostname": "a" }, canPreempt: true } } },
      "OnlyByPreemption",
    ],
    [
      "if it would make the other node too hot",
      {
        world: {
          nodes: [
            { name: "a", rest: 0.5 },
            { name: "b", rest: 0.4 },
          ],
        },
      },
      "LandingTooHot",
    ],
    [
      "if moving it brings nothing",
      {
        pod: { load: 0.005 },
        world: {
          nodes: [
            { name: "a", rest: 0.6 },
            { name: "b", rest: 0.793 },
          ],
        },
        policy: { hysteresis: 0 },
      },
      "NoGain",
    ],
    [
      "if it would land on a node of unknown load",
      {
        world: {
          nodes: [
            { name: "a", rest: 0.5 },
            { name: "b", rest: 0.8 },
            { name: "c", rest: null },
          ],
        },
      },
      "LandingUnknown",
    ],
    [
      "if the scheduler would choose the same node again",
      {
        pod: {
          requested: 0,
          shape: {
            preferredNodes: [
              {
                weight: 100,
                term: { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["a"] }] },
              },
            ],
          },
        },
      },
      "ReturnsToSource",
    ],
  ])("%s", (_sentence, change, expected) => {
    expect(holdOf(change)).toBe(expected);
  });
});

test("a hold is a sentence with the object that asks for it", () => {
  expect(holdSentence({ code: "DisruptionBudget", by: "shop/checkout" })).toContain("(shop/checkout)");
  expect(holdSentence({ code: "Pinned", by: null })).toContain("rebalancer.dev/pinned");
});

test("a pod belongs to the first policy by name that selects it; one that selects nothing of it takes nothing", () => {
  const world = {
    nodes: [{ name: "a", rest: 0.3 }, { name: "b" }],
    pods: [{ name: "pod", node: "a", load: 0.6, labels: { app: "web" } }],
  };
  const heldBy = (app: string) => {
    const earlier = [{ name: "first", spec: { workloadSelectors: [{ matchLabels: { app } }] } }];
    return plan({ ...snapshotOf(world), earlier }).stays.map(({ code, by }) => ({ code, by }));
  };
  expect(heldBy("web")).toEqual([{ code: "OtherPolicy", by: "first" }]);
  expect(heldBy("other")).not.toContainEqual({ code: "OtherPolicy", by: "first" });
});

import { MetricRegistry } from "@evenkeel/metrics";
import { expect, test } from "@jest/globals";
import { Measures } from "./measures.ts";
import { metrics as table } from "./metrics.ts";
import { sampleMove, samplePlan } from "./testing/sample-plan.ts";

function build() {
  const registry = new MetricRegistry();
  const measures = new Measures({ metrics: registry.register(table), registry });
  const lines = async (name: string) => (await registry.text()).split("\n").filter((line) => line.startsWith(name));
  return { measures, lines };
}

test("a pod counts once while it stays in the plan of a dry run", async () => {
  const { measures, lines } = build();
  measures.dryRun("default", samplePlan());
  measures.dryRun("default", samplePlan());
  expect(await lines("rebalancer_dry_run")).toEqual(["rebalancer_dry_run_evictions_total 1"]);
  measures.dryRun("default", samplePlan({ moves: [sampleMove("press-1"), sampleMove("press-9")] }));
  expect(await lines("rebalancer_dry_run")).toEqual(["rebalancer_dry_run_evictions_total 2"]);
});

test("the strictest WorkloadSLO of a namespace counts, and -1 is no limit", async () => {
  const { measures, lines } = build();
  const slo = (namespace: string, name: string, maxDisruptionsPerHour?: number) => ({
    ...{ namespace, name, spec: maxDisruptionsPerHour === undefined ? {} : { maxDisruptionsPerHour } },
  });
  measures.budgets([slo("a", "one", 5), slo("a", "two", 3), slo("b", "one")], { "a/two": 2 });
  expect(await lines("rebalancer_budget")).toEqual([
    'rebalancer_budget_remaining{namespace="a"} 1',
    'rebalancer_budget_remaining{namespace="b"} -1',
  ]);
  measures.budgets([slo("b", "one", 0)], {});
  expect(await lines("rebalancer_budget")).toEqual(['rebalancer_budget_remaining{namespace="b"} 0']);
});

test("the series of a node go with it, and unknown load is absent", async () => {
  const { measures, lines } = build();
  const node = (name: string, cpu: number | null) => ({ name, cpu, memory: null, now: cpu, predicted: cpu });
  measures.nodes("default", [node("one", 0.5), node("two", 0.25)]);
  measures.nodes("default", [node("two", 0.75), node("three", null)]);
  expect(await lines("rebalancer_node")).toEqual(['rebalancer_node_utilization{node="two",resource="cpu"} 0.75']);
});

test("a policy without usage takes no series of a node from another policy", async () => {
  const { measures, lines } = build();
  const own = 'rebalancer_node_utilization{node="one",resource="cpu"} 0.5';
  measures.nodes("first", [{ name: "one", cpu: 0.5, memory: null, now: 0.5, predicted: 0.5 }]);
  measures.nodes("second", []);
  measures.forget("second");
  expect(await lines("rebalancer_node")).toEqual([own]);
  measures.forget("first");
  expect(await lines("rebalancer_node")).toEqual([]);
});

test("the standard deviation is a true one, with its variance, forecast and bound", async () => {
  const { measures, lines } = build();
  measures.plan("default", samplePlan());
  expect(await lines("rebalancer_sigma")).toEqual([
    'rebalancer_sigma{name="default"} 0.4',
    'rebalancer_sigma_predicted{name="default"} 0.2',
    'rebalancer_sigma_lower_bound{name="default"} 0.19',
  ]);
  expect(await lines('rebalancer_blocked_pods{name="default",reason="Pinned"}')).toHaveLength(1);
});

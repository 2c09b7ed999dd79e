// A process that compares planner and descheduler where usage is unlike requests, and prints the runs as one line of
// JSON. It runs in a network namespace of its own, in which kube-apiserver reaches the metrics server of this process.
import { runCase } from "./case.ts";
import { MetricsServer, type MetricsWorld } from "./metrics-server.ts";
import { NAMESPACE, type SeenPod, Stage } from "./stage.ts";
import { MEBIBYTES_PER_MILLI_CPU, sceneOf } from "./workload.ts";

const [descheduler = "", ...numbers] = process.argv.slice(2);
const [nodes = NaN, workloads = NaN, band = NaN] = numbers.map(Number);
const progress = (line: string): void => console.error(line);

const scene = sceneOf("uniform", { nodes, workloads }, true);
const used = new Map(scene.workloads.map(({ name, cpu, usage }) => [name, cpu * usage]));
await using resources = new AsyncDisposableStack();
const stage = resources.use(await Stage.start({ nodes }, progress));
const world = {
  namespace: NAMESPACE,
  nodes: Array.from({ length: nodes }, (_, node) => `node-${node}`),
  pods: () => stage.running(),
  usageOf: ({ workload }: SeenPod) => {
    const cpu = used.get(workload) ?? 0;
    return { cpu, memory: cpu * MEBIBYTES_PER_MILLI_CPU * 2 ** 20 };
  },
} satisfies MetricsWorld;
resources.use(await MetricsServer.start(stage.kube, world));
const question = { name: "usage unlike requests", scene, basis: "usage" as const };
console.log(JSON.stringify(await runCase(question, { stage, descheduler, bands: [band], progress })));

import { performance } from "node:perf_hooks";
import { NO_POLICY, splitDecider, type SplitMember, type SplitSnapshot } from "@evenkeel/endpoint-proxy/writes";
import { barred, figure, median, type Result } from "../result.ts";
import { SlowMembers } from "./slow-members.ts";

/** Milliseconds that a member takes for an answer. */
const LATENCY = 20;
const ROUNDS = 40;
const WARM_UP = 20;

/** Writes over three slow members compared with calls to one of them in turn, and the CPU of the decider. */
export async function writes(progress: (line: string) => void): Promise<readonly Result[]> {
  await using members = await SlowMembers.start(LATENCY);
  for (let round = 0; round < WARM_UP; round += 1) {
    await members.patchInTurn(await members.postInTurn());
    await members.patch(await members.post());
  }
  progress("warm: writes");
  const taken = { two: [] as number[], three: [] as number[], post: [] as number[], patch: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    let [alone, name] = ["", ""];
    taken.two.push(await timed(async () => void (alone = await members.postInTurn())));
    taken.post.push(await timed(async () => void (name = await members.post())));
    taken.three.push(await timed(() => members.patchInTurn(alone)));
    taken.patch.push(await timed(() => members.patch(name)));
  }
  const [two, three, post, patch] = [taken.two, taken.three, taken.post, taken.patch].map(median) as Four;
  progress(`writes: POST ${post.toFixed(1)} ms, PATCH ${patch.toFixed(1)} ms`);
  return [
    figure(`dry run and commit in turn at a member of ${LATENCY} ms`, two, "ms"),
    figure(`POST of a Deployment over three members of ${LATENCY} ms`, post, "ms"),
    barred("POST / two calls in turn", post / two, "ratio", "<= 1.3"),
    figure(`read, dry run and commit in turn at a member of ${LATENCY} ms`, three, "ms"),
    figure(`PATCH of replicas over three members of ${LATENCY} ms`, patch, "ms"),
    barred("PATCH / three calls in turn", patch / three, "ratio", "<= 1.3"),
    ...[3, 10, 100].map((count) => figure(`decider, CPU for one split over ${count} members`, decider(count), "µs")),
  ];
}

type Four = [number, number, number, number];

async function timed(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Microseconds of CPU, the median of rounds. */
function decider(count: number): number {
  const snapshot = splitOver(count);
  const once = (times: number): number => {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time += 1) splitDecider.decide(snapshot);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / times;
  };
  const times = 2_000;
  once(times);
  return median(Array.from({ length: 9 }, () => once(times)));
}

/** 1,000 replicas over members that hold half of them already. */
function splitOver(count: number): SplitSnapshot {
  const members = Array.from({ length: count }, (_, index): SplitMember => {
    const free = { cpu: 400_000, memory: 2 ** 40, pods: 4_000 };
    const score = { source: "watts", score: 100 + index, free, marginalWatts: 30 + (index % 17) } as const;
    const about = { own: index === 0, standing: "Ready", placedSince: { cpu: 0, memory: 0, pods: 0 } } as const;
    return { name: `cluster-${index}`, ...about, held: Math.floor(500 / count), score };
  });
  return {
    ...{ at: "2026-01-01T00:00:00Z", kind: "Deployment", namespace: "shop", name: "web", total: 1_000 },
    ...{ requests: { cpu: 100, memory: 2 ** 27 }, members, policy: NO_POLICY, dryRun: true },
  };
}

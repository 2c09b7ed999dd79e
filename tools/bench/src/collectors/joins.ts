import { eventually } from "@evenkeel/runtime/testing";
import { cpuSeconds } from "../forward/process-usage.ts";
import { barred, figure, median, type Result } from "../result.ts";
import { JOBS, schedulerWorld, targetsPath } from "./scheduler-world.ts";

const COLLECTORS = 10;
const JOINS = 3;

/** Time from a ready pod to its first targets, of collectors that join ten others soon after one another. */
export async function joinFigures(progress: (line: string) => void): Promise<readonly Result[]> {
  await using world = await schedulerWorld(1000, COLLECTORS);
  progress("10,000 targets are served to 10 collectors");
  const [times, costs]: [number[], number[]] = [[], []];
  for (let collector = COLLECTORS; collector < COLLECTORS + JOINS; collector += 1) {
    await world.scale(collector + 1);
    await eventually(() => world.isReady(collector), 60_000, 2);
    const [began, cpu] = [performance.now(), cpuSeconds(world.service.pid)];
    await eventually(
      async () => {
        const jobs = Array.from({ length: JOBS }, (_, job) => world.answer(targetsPath(`job-${job}`, collector)));
        return (await Promise.all(jobs)).every((body) => body.length > "[]".length);
      },
      120_000,
      // Polls take time of the process that is to decide.
      25,
    );
    times.push((performance.now() - began) / 1000);
    costs.push(cpuSeconds(world.service.pid) - cpu);
    progress(`collector ${collector + 1} is served`);
  }
  return [
    barred("11th collector: pod ready → targets of every job served", times[0] ?? NaN, "s", "<= 1"),
    figure("11th to 13th collector: pod ready → targets of every job served, median", median(times), "s"),
    figure("the same, CPU of collector-scheduler, polls included, median", median(costs), "s"),
  ];
}

import { barred, figure, median, type Result } from "../result.ts";
import { JOBS, schedulerWorld, targetsPath, until } from "./scheduler-world.ts";

const COLLECTORS = 10;
const JOINS = 3;

/** Time from a ready pod to its first targets, of collectors that join ten others soon after one another. */
export async function joinFigures(progress: (line: string) => void): Promise<readonly Result[]> {
  await using world = await schedulerWorld(1000, COLLECTORS);
  progress("10,000 targets are served to 10 collectors");
  const times: number[] = [];
  for (let collector = COLLECTORS; collector < COLLECTORS + JOINS; collector += 1) {
    await world.scale(collector + 1);
    await until(() => world.isReady(collector), 60, 2);
    const began = performance.now();
    await until(
      async () => {
        const jobs = Array.from({ length: JOBS }, (_, job) => world.answer(targetsPath(`job-${job}`, collector)));
        return (await Promise.all(jobs)).every((body) => body.length > "[]".length);
      },
      120,
      2,
    );
    times.push((performance.now() - began) / 1000);
    progress(`collector ${collector + 1} is served`);
  }
  return [
    barred("11th collector: pod ready → targets of every job served", times[0] ?? NaN, "s", "<= 1"),
    figure("11th to 13th collector: pod ready → targets of every job served, median", median(times), "s"),
  ];
}

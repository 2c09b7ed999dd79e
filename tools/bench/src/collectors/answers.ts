import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "@evenkeel/runtime/testing";
import { cpuSeconds, residentBytes } from "../forward/process-usage.ts";
import { barred, figure, median, type Result } from "../result.ts";
import { percentile } from "../scale-resolver/percentile.ts";
import { pollRate } from "./polls.ts";
import {
  addressesOf,
  JOBS,
  PROBE,
  SERVICES,
  type SchedulerWorld,
  schedulerWorld,
  targetsPath,
} from "./scheduler-world.ts";

const ROUNDS = 5;
const SECONDS = 2;
const WARM_UP = 4;
const PATHS = { "one job's targets": targetsPath(PROBE.name), "/jobs": "/jobs", "/scrape_configs": "/scrape_configs" };

/** The rate of answers with 1,000 and 100,000 targets, beside a bare server that sends the same bytes; and changes. */
export async function answerFigures(progress: (line: string) => void): Promise<readonly Result[]> {
  await using few = await schedulerWorld(100);
  progress("1,000 targets are served");
  await using many = await schedulerWorld(10_000);
  progress("100,000 targets are served");
  const results: Result[] = [];
  for (const [name, path] of Object.entries(PATHS)) {
    await using bare = await bareServer(await many.answer(path));
    const contenders = { few: target(few), many: target(many), bare };
    const rates: Record<keyof typeof contenders, number[]> = { few: [], many: [], bare: [] };
    // A service answers for days: what its first seconds cost is not counted, of neither.
    for (const { port, pid } of Object.values(contenders)) await pollRate(port, path, pid, WARM_UP);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const key of round % 2 === 0 ? (["few", "many", "bare"] as const) : (["bare", "many", "few"] as const))
        rates[key].push((await pollRate(contenders[key].port, path, contenders[key].pid, SECONDS)).perCpuSecond);
    const [small, large, least] = [median(rates.few), median(rates.many), median(rates.bare)];
    results.push(
      figure(`${name}, 100,000 targets`, large, "requests / CPU s"),
      barred(`${name}: to a bare server with the same bytes`, large / least, "", ">= 0.7"),
      barred(`${name}: 100,000 targets to 1,000, answers of one size`, large / small, "", ">= 0.8"),
    );
    progress(name);
  }
  results.push(figure("memory with 100,000 targets", residentBytes(many.service.pid) / 2 ** 20, "MiB"));
  return [...results, ...(await changes(many, progress)), ...(await events(many))];
}

const target = ({ service, port }: SchedulerWorld) => ({ pid: service.pid, port });

/** Time from the change of a file with 10,000 targets to the right answer. */
async function changes(world: SchedulerWorld, progress: (line: string) => void): Promise<readonly Result[]> {
  const all = addressesOf(10_000);
  const timeOf = async (job: string, addresses: readonly string[], marker: string) => {
    const began = performance.now();
    world.setTargets(job, addresses);
    const isChanged = async () => {
      const answers = await Promise.all([0, 1, 2].map((collector) => world.answer(targetsPath(job, collector))));
      return answers.some((body) => body.includes(marker));
    };
    await eventually(isChanged, 60_000, 100);
    return performance.now() - began;
  };
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const marker = `192.0.2.${round}:1`;
    times.push(await timeOf(`job-${round % JOBS}`, [...all, marker], marker));
  }
  progress("changes of files");
  return [
    figure("file changed → right answer, median", median(times), "ms"),
    figure("file changed → right answer, slowest of 5", Math.max(...times), "ms"),
  ];
}

const EVENTS = 50;

/** Time from a new Service to the right answer, among 100,000 targets. */
async function events(world: SchedulerWorld): Promise<readonly Result[]> {
  const times: number[] = [];
  const cpu = cpuSeconds(world.service.pid);
  for (let index = 0; index < EVENTS; index += 1) {
    const began = performance.now();
    world.addService(`event-${index}`);
    const isTold = async () => {
      const answers = await Promise.all([0, 1, 2].map((collector) => world.answer(targetsPath(SERVICES, collector))));
      return answers.some((body) => body.includes(`"event-${index}.default.svc:80"`));
    };
    await eventually(isTold, 60_000, 2);
    times.push(performance.now() - began);
  }
  const used = cpuSeconds(world.service.pid) - cpu;
  return [
    figure("Service created → right answer, p50", percentile(times, 0.5), "ms"),
    figure("Service created → right answer, p99", percentile(times, 0.99), "ms"),
    figure("CPU of collector-scheduler for a Service and the polls until it is told", (1000 * used) / EVENTS, "ms"),
  ];
}

async function bareServer(body: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), "bench-answers-"));
  const file = join(folder, "body");
  writeFileSync(file, body);
  const child = spawn(process.execPath, [join(import.meta.dirname, "bare-server.ts"), file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    pid: child.pid ?? NaN,
    port: Number(line.split(" ")[1]),
    async [Symbol.asyncDispose]() {
      const closed = once(child, "close");
      child.kill();
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}

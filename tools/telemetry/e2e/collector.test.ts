import { waitUntil } from "@evenkeel/control-plane";
import { expect, jest, test } from "@jest/globals";
import { Collector } from "../src/index.ts";
import { ScriptedAllocator } from "./scripted-allocator.ts";

jest.setTimeout(120_000);

const JOB = { job_name: "app", scrape_interval: "1s", scrape_timeout: "1s" };
const TARGETS = "/jobs/app/targets?collector_id=collector-0";

/** A collector and the target allocator that it asks. At first it scrapes the instances a and b of the job app. */
class World implements AsyncDisposable {
  readonly allocator: ScriptedAllocator;
  readonly collector: Collector;

  private constructor(allocator: ScriptedAllocator, collector: Collector) {
    this.allocator = allocator;
    this.collector = collector;
  }

  static async start(): Promise<World> {
    const allocator = await ScriptedAllocator.start();
    allocator.say("/scrape_configs", { app: JOB });
    allocator.sayTargets(TARGETS, "a", "b");
    const world = new World(allocator, await Collector.start({ config: allocator.config("collector-0") }));
    await world.scrapes("a", "b");
    return world;
  }

  /** The instances that were scraped in the last three intervals. */
  async scraped(): Promise<string[]> {
    const recently = Date.now() - 3_000;
    const counts = await this.collector.counts();
    const fresh = counts.filter(({ scrapes }) => (scrapes.at(-1)?.at ?? 0) > recently);
    return fresh.map(({ instance }) => instance).sort();
  }

  /** Waits until exactly these instances are scraped. */
  async scrapes(...instances: string[]): Promise<void> {
    await waitUntil(`the collector scrapes ${instances.join(", ")}`, async () => {
      const actual = (await this.scraped()).join();
      return actual === instances.join() ? undefined : `it scrapes ${actual}\n${this.collector.log}`;
    });
  }

  /** Waits until a path was polled so often that its answer is in force: discovery and scraping wait up to 5 s each. */
  async settles(path: string): Promise<void> {
    const polls = () => this.allocator.asked.filter((one) => one === path).length;
    const enough = polls() + 13;
    await waitUntil(`${path} is polled`, () => (polls() < enough ? `${polls()} polls` : undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.collector[Symbol.asyncDispose]();
    await this.allocator[Symbol.asyncDispose]();
  }
}

test.concurrent("a collector scrapes what it was given, counts it, and ends on SIGTERM", async () => {
  await using world = await World.start();
  const counts = await world.collector.counts();
  expect(counts.map(({ job }) => job)).toEqual(["app", "app"]);
  expect(counts.flatMap(({ scrapes }) => scrapes).every(({ up }) => up)).toBe(true);
  // `up`, four other samples about the scrape, and the target's own.
  for (const { samples, scrapes } of counts) expect(samples).toBe(6 * scrapes.length);
  await world.collector.stop();
  expect(world.collector.log).toContain("Shutdown complete");
});

test.concurrent("an empty list of jobs stops all jobs, whatever the status", async () => {
  await using world = await World.start();
  world.allocator.say("/scrape_configs", "", 503);
  await world.scrapes();
});

test.concurrent("a sentence instead of the jobs or the targets keeps them", async () => {
  await using world = await World.start();
  world.allocator.say("/scrape_configs", "not ready: sources have not answered yet", 503);
  world.allocator.say(TARGETS, "not ready: sources have not answered yet", 503);
  await world.settles(TARGETS);
  expect(await world.scraped()).toEqual(["a", "b"]);
});

test.concurrent("a target that a good answer no longer has is dropped", async () => {
  await using world = await World.start();
  world.allocator.sayTargets(TARGETS, "b", "c");
  await world.scrapes("b", "c");
  world.allocator.sayTargets(TARGETS);
  await world.scrapes();
});

test.concurrent("one invalid job keeps every other job from being updated", async () => {
  await using world = await World.start();
  const { allocator } = world;
  allocator.say("/scrape_configs", { app: { ...JOB, scrape_timeout: "2s" }, more: { ...JOB, job_name: "more" } });
  await world.settles("/scrape_configs");
  expect(allocator.asked).not.toContain("/jobs/more/targets?collector_id=collector-0");
  expect(await world.scraped()).toEqual(["a", "b"]);
});

test.concurrent("a job's name is escaped in the path as Go escapes a query", async () => {
  await using world = await World.start();
  const { allocator } = world;
  allocator.say("/scrape_configs", { "ns/a b+c": { ...JOB, job_name: "ns/a b+c" } });
  await waitUntil("the job's targets are asked for", () => {
    const path = "/jobs/ns%2Fa+b%2Bc/targets?collector_id=collector-0";
    return allocator.asked.includes(path) ? undefined : allocator.asked.slice(-3).join(", ");
  });
});

test.concurrent("a collector that refuses its configuration says why", async () => {
  await expect(Collector.start({ config: "receivers: {nothing: {}}" })).rejects.toThrow("nothing");
});

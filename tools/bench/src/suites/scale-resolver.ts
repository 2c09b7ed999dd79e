import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { barred, figure, median, type Result } from "../result.ts";
import { Bare } from "../scale-resolver/bare.ts";
import type { Clients } from "../scale-resolver/clients.ts";
import { Cluster } from "../scale-resolver/cluster.ts";
import { coldBurst } from "../scale-resolver/cold-burst.ts";
import { type Extent, WHOLE } from "../scale-resolver/extent.ts";
import { type Contender, freshHandOffs, type HandOffs, warmHandOffs } from "../scale-resolver/hand-offs.ts";
import { IMAGE_FLAGS } from "../scale-resolver/image-flags.ts";
import { flooded, wakes } from "../scale-resolver/isolation.ts";
import { heldMemory } from "../scale-resolver/memory.ts";
import { percentile } from "../scale-resolver/percentile.ts";
import { Remote } from "../scale-resolver/remote.ts";
import { Resolver } from "../scale-resolver/resolver.ts";
import { Rig } from "../scale-resolver/rig.ts";
import { wakeCall } from "../scale-resolver/wake-call.ts";
import type { Series, Suite } from "../suite.ts";

const root = join(import.meta.dirname, "../../../..");

/** The service that wakes, and one that is flooded meanwhile. */
const SHOP = { name: "shop", cap: 12_000 };
const FLOODED = { name: "flooded", cap: 1000 };
const INSPECTOR = 27_301;

const OURS = "scale-resolver";
const BARE = "bare holder";
const PLAIN = "bare holder, Node's own flags";
/** The flags of the chart may cost speed, so the resolver is compared with the faster of the two. */
const BETTER = "the better bare holder";

interface Scene {
  readonly rig: Rig;
  readonly cluster: Cluster;
  readonly extent: Extent;
  readonly progress: (line: string) => void;
}

async function coldBursts({ rig, cluster, extent, progress }: Scene): Promise<readonly Result[]> {
  await using resolver = await Resolver.start(cluster);
  const holder = await resolver.holding(SHOP.name);
  const results: Result[] = [];
  for (const count of extent.cold) {
    const { lost, twice, damaged } = await coldBurst(rig, holder, count);
    progress(`cold burst of ${count}: ${lost} lost, ${twice} twice, ${damaged} damaged`);
    results.push(
      barred(`cold burst of ${count}: lost`, lost, "requests", "<= 0"),
      barred(`cold burst of ${count}: sent twice`, twice, "requests", "<= 0"),
      barred(`cold burst of ${count}: bodies damaged`, damaged, "requests", "<= 0"),
    );
  }
  return results;
}

async function wakeCalls({ rig, cluster, extent, progress }: Scene): Promise<readonly Result[]> {
  await using resolver = await Resolver.start(cluster);
  const holder = await resolver.holding(SHOP.name);
  const took: number[] = [];
  let [calls, changes] = [0, 0];
  for (let burst = 0; burst < extent.wakes; burst++) {
    const call = await wakeCall(rig, cluster, holder);
    took.push(call.took);
    calls += call.calls;
    changes += call.changes;
  }
  progress(`${extent.wakes} wakes: ${took.map((each) => each.toFixed(1)).join(", ")} ms`);
  return [
    barred("first request to scale call, median", median(took), "ms", "<= 10"),
    figure("first request to scale call, first of a process", took[0] ?? NaN, "ms"),
    figure("first request to scale call, most", Math.max(...took), "ms"),
    barred("scale calls per burst that changed the workload", changes / extent.wakes, "calls", "<= 1"),
    figure("scale calls per burst, including those that changed nothing", calls / extent.wakes, "calls"),
  ];
}

async function handOffs(scene: Scene): Promise<{ results: readonly Result[]; series: readonly Series[] }> {
  const { rig, cluster, extent, progress } = scene;
  const ours: Contender = { name: OURS, start: async () => (await Resolver.start(cluster)).holding(SHOP.name) };
  const bare: Contender = { name: BARE, start: () => Bare.start(IMAGE_FLAGS) };
  const plain: Contender = { name: PLAIN, start: () => Bare.start([]) };
  const options = { warmUp: extent.warmUp, sizes: extent.handOffs, progress };
  const warm = await warmHandOffs(rig, [ours, bare, plain], options);
  const results: Result[] = [];
  const series: Series[] = [];
  for (const [index, { held, fresh: rounds }] of extent.handOffs.entries()) {
    const found = warm[index] ?? [];
    const fresh = await freshHandOffs(rig, [ours, bare], { held, rounds }, progress);
    const p99 = (of: readonly HandOffs[], name: string) => median(of.find((each) => each.name === name)?.p99 ?? []);
    const [ours99, bare99, plain99] = [p99(found, OURS), p99(found, BARE), p99(found, PLAIN)];
    const better99 = Math.min(bare99, plain99);
    results.push(
      ...found.flatMap((each) => figuresOf(`${held} held, warm`, each)),
      ...fresh.flatMap((each) => figuresOf(`${held} held, fresh process`, each)),
      figure(`${held} held, warm: p99, ${OURS} / ${BARE}`, ours99 / bare99, "ratio"),
      figure(`${held} held, warm: p99, ${OURS} / ${PLAIN}`, ours99 / plain99, "ratio"),
      barred(`${held} held, warm: p99, ${OURS} / ${BETTER}`, ours99 / better99, "ratio", "<= 1.1"),
      barred(`${held} held: p99, fresh ${OURS} / fresh ${BARE}`, p99(fresh, OURS) / p99(fresh, BARE), "ratio", "<= 2"),
      barred(`${held} held: p99, fresh ${OURS} / ${BETTER}, warm`, p99(fresh, OURS) / better99, "ratio", "<= 2"),
    );
    series.push(
      ...found.map((each) => seriesOf(`${held} held, ${each.name}`, each)),
      ...fresh.map((each) => seriesOf(`${held} held, ${each.name}, fresh`, each)),
    );
  }
  return { results, series };
}

function figuresOf(what: string, { name, p50, p99, cpu }: HandOffs): readonly Result[] {
  return [
    figure(`${what}: ${name}, p50`, median(p50), "ms"),
    figure(`${what}: ${name}, p99`, median(p99), "ms"),
    figure(`${what}: ${name}, CPU of the hand-off`, median(cpu) * 1000, "ms"),
  ];
}

function seriesOf(name: string, { p99 }: HandOffs): Series {
  return { name, values: p99, middle: median(p99) };
}

async function memory({ rig, cluster, extent, progress }: Scene): Promise<readonly Result[]> {
  const results: Result[] = [];
  const nodeFlags = [`--inspect=127.0.0.1:${INSPECTOR}`];
  for (const count of extent.memory) {
    for (const name of [OURS, BARE]) {
      await using holder =
        name === OURS
          ? await (await Resolver.start(cluster, { nodeFlags })).holding(SHOP.name)
          : await Bare.start([...IMAGE_FLAGS, ...nodeFlags]);
      const { each, held } = await heldMemory(rig, holder, INSPECTOR, count);
      progress(`${count} held: ${name} ${(each / 1000).toFixed(1)} KB each`);
      const measure = `${count} held: ${name}, memory of each`;
      results.push(
        name === OURS && count === 10_000
          ? barred(measure, each / 1000, "KB", "<= 24")
          : figure(measure, each / 1000, "KB"),
        figure(`${count} held: ${name}, memory`, held / 1e6, "MB"),
      );
    }
  }
  return results;
}

async function isolation({ rig, cluster, extent, progress }: Scene): Promise<readonly Result[]> {
  await using flooders = await Remote.start<Clients>("clients.ts");
  await using resolver = await Resolver.start(cluster);
  const neighbour = await resolver.holding(SHOP.name);
  const victim = await resolver.holding(FLOODED.name);
  await wakes(rig, neighbour, 5);
  const alone: number[] = [];
  const duringFlood: number[] = [];
  const overflow: number[] = [];
  let ill = 0;
  for (let flood = 0; flood < extent.floods; flood++) {
    alone.push(...(await wakes(rig, neighbour, 3)));
    const found = await flooded(rig, flooders, { victim, neighbour, cap: FLOODED.cap });
    duringFlood.push(...found.flooded);
    overflow.push(...found.overflow);
    ill += found.ill;
    const told = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(", ");
    progress(`flood ${flood + 1}: neighbour's p99 ${told(alone)} ms alone, ${told(duringFlood)} ms during it`);
  }
  return [
    figure("neighbour's p99 alone", median(alone), "ms"),
    figure("neighbour's p99 during a flood", median(duringFlood), "ms"),
    barred("neighbour's p99 during a flood / alone", median(duringFlood) / median(alone), "ratio", "<= 1.5"),
    figure("flood of 2,000/s: refused", overflow.length, "requests"),
    barred("flood: head to 503, p99", percentile(overflow, 0.99), "ms", "<= 50"),
    barred("flood: answers other than 503 with Retry-After", ill, "requests", "<= 0"),
  ];
}

/** The bundle as the image runs it, on the embedded world, compared with a holder that does nothing else. */
export function scaleResolverSuite(extent: Extent): Suite {
  return {
    name: "scale-resolver",
    about: "cold bursts, hand-off compared with a bare holder, memory of held requests and isolation of scale-resolver",
    async run(progress) {
      const bundled = spawnSync("nx", ["run", "scale-resolver:bundle"], { cwd: root, encoding: "utf8" });
      if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
      await using rig = await Rig.start();
      await using cluster = await Cluster.start();
      for (const { name, cap } of [SHOP, FLOODED]) await cluster.addService(name, cap);
      const scene = { rig, cluster, extent, progress };
      const cold = await coldBursts(scene);
      const calls = await wakeCalls(scene);
      const { results, series } = await handOffs(scene);
      return {
        results: [...cold, ...calls, ...results, ...(await memory(scene)), ...(await isolation(scene))],
        plot: { title: "A pod is ready to the first byte, p99", unit: "ms", series },
      };
    },
  };
}

export const scaleResolver = scaleResolverSuite(WHOLE);

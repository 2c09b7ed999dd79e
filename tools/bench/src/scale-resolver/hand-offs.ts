import type { Holder } from "./holder.ts";
import { percentile } from "./percentile.ts";
import type { HandOff, Rig } from "./rig.ts";

/** Requests of one burst that warms. */
const WARM_BURST = 1000;

/** A program that holds requests, in a comparison. */
export interface Contender {
  readonly name: string;
  readonly start: () => Promise<Holder>;
}

/** A value for each round. */
export interface HandOffs {
  readonly name: string;
  /** Milliseconds from the word that a pod is ready to first bytes. */
  readonly p50: number[];
  readonly p99: number[];
  /** Seconds of CPU for all of them. */
  readonly cpu: number[];
}

interface Rounds {
  readonly held: number;
  readonly rounds: number;
}

type Progress = (line: string) => void;

/** Contenders that run all the time, warmed by so many requests, run alternately. A list for each of `sizes`. */
export async function warmHandOffs(
  rig: Rig,
  contenders: readonly Contender[],
  { warmUp, sizes, progress }: { warmUp: number; sizes: readonly Rounds[]; progress: Progress },
): Promise<readonly (readonly HandOffs[])[]> {
  await using running = new AsyncDisposableStack();
  const holders: Holder[] = [];
  for (const { name, start } of contenders) {
    const holder = running.use(await start());
    for (let requests = 0; requests < warmUp; requests += WARM_BURST) await rig.handOff(holder, WARM_BURST);
    holders.push(holder);
    progress(`warm: ${name}`);
  }
  const found: HandOffs[][] = [];
  for (const { held, rounds } of sizes) {
    const times = contenders.map(newTimes);
    for (let round = 0; round < rounds; round++) {
      for (const index of orderOf(contenders.length, round)) {
        const holder = holders[index];
        if (holder)
          note(times[index], await rig.handOff(holder, held), `warm, ${held} held, round ${round + 1}`, progress);
      }
    }
    found.push(times);
  }
  return found;
}

/** The first burst of a process, of a new one in each round. */
export async function freshHandOffs(
  rig: Rig,
  contenders: readonly Contender[],
  { held, rounds }: Rounds,
  progress: Progress,
): Promise<readonly HandOffs[]> {
  const times = contenders.map(newTimes);
  for (let round = 0; round < rounds; round++) {
    for (const index of orderOf(contenders.length, round)) {
      const holder = await contenders[index]?.start();
      if (!holder) continue;
      try {
        note(times[index], await rig.handOff(holder, held), `fresh, ${held} held, round ${round + 1}`, progress);
      } finally {
        await holder[Symbol.asyncDispose]();
      }
    }
  }
  return times;
}

/** In alternating order, so that a slow moment of the machine does not always hit the same one. */
function orderOf(count: number, round: number): readonly number[] {
  const order = Array.from({ length: count }, (_empty, index) => index);
  return round % 2 === 0 ? order : order.toReversed();
}

function newTimes({ name }: Contender): HandOffs {
  return { name, p50: [], p99: [], cpu: [] };
}

function note(times: HandOffs | undefined, { times: values, cpu }: HandOff, what: string, progress: Progress): void {
  if (!times) return;
  const [p50, p99] = [percentile(values, 0.5), percentile(values, 0.99)];
  times.p50.push(p50);
  times.p99.push(p99);
  times.cpu.push(cpu);
  progress(`${what}: ${times.name} p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, CPU ${cpu.toFixed(2)} s`);
}

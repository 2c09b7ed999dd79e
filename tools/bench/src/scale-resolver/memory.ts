import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "../forward/process-usage.ts";
import type { Holder } from "./holder.ts";
import { collectGarbage } from "./inspector.ts";
import type { Rig } from "./rig.ts";

/** Milliseconds in which freed memory goes back to the system. */
const SETTLE = 1500;

export interface HeldMemory {
  /** Bytes of RAM for each request that waits. */
  readonly each: number;
  /** Bytes of RAM of the whole process while they wait. */
  readonly held: number;
}

/** What so many waiting GET cost a fresh process, each on a connection of its own. */
export async function heldMemory(rig: Rig, holder: Holder, inspector: number, count: number): Promise<HeldMemory> {
  const before = await settled(holder.pid, inspector);
  const name = await rig.hold(holder, count);
  const held = await settled(holder.pid, inspector);
  const pod = rig.newPod();
  await rig.pods.ask("listen", pod);
  await holder.release(pod);
  const replies = await rig.finish(name);
  if (!replies.every(({ right }) => right)) throw new Error("not all that were held were answered");
  await holder.rest();
  await rig.pods.ask("close", pod);
  return { each: (held - before) / count, held };
}

async function settled(pid: number, inspector: number): Promise<number> {
  await collectGarbage(inspector);
  await sleep(SETTLE);
  return residentBytes(pid);
}

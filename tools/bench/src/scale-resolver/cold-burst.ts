import { setTimeout as sleep } from "node:timers/promises";
import type { Holder } from "./holder.ts";
import type { Rig } from "./rig.ts";

/** Milliseconds from the first request to a pod that counts as ready, and from there until it takes connections. */
const START = 2000;
const REFUSES = 300;

export interface ColdBurst {
  /** Requests without the answer that their pod gave. */
  readonly lost: number;
  /** Requests that a pod got more than once. */
  readonly twice: number;
  /** Answered requests whose body, or answer, was not what was sent. */
  readonly damaged: number;
}

/**
 * GET and POST on a service at zero; the pod that comes refuses connections for a while although it counts as ready.
 */
export async function coldBurst(rig: Rig, holder: Holder, count: number): Promise<ColdBurst> {
  const pod = rig.newPod();
  const name = rig.newBurst();
  await rig.pods.ask("tally", undefined);
  const began = performance.now();
  const sending = rig.clients.ask("burst", { name, port: holder.port, count, mixed: true });
  await sleep(START);
  await holder.release(pod);
  await sleep(REFUSES);
  await rig.pods.ask("listen", pod);
  await sending;
  const replies = await rig.finish(name);
  const { twice } = await rig.pods.ask("tally", undefined);
  const answered = replies.filter(({ status }) => status === 200);
  if (performance.now() - began < START) throw new Error("unreachable: answered before a pod was there");
  await holder.rest();
  await rig.pods.ask("close", pod);
  return { lost: count - answered.length, twice, damaged: answered.filter(({ right }) => !right).length };
}

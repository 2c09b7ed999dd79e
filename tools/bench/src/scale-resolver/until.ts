import { setTimeout as sleep } from "node:timers/promises";
import { now } from "./now.ts";

/** Asks again and again until it holds, for a minute at most. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = now() + 60_000;
  while (!(await holds())) {
    if (now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(25);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { now } from "./now.ts";

/** Asks again and again, every so many milliseconds, until it holds, for a minute and a half at most. */
export async function until(what: () => string, holds: () => Promise<boolean>, every = 25): Promise<void> {
  const end = now() + 90_000;
  while (!(await holds())) {
    if (now() > end) throw new Error(`waited in vain: ${what()}`);
    await sleep(every);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { ControlPlaneError, messageOf } from "./errors.ts";

/** Says why the condition does not hold yet; undefined once it holds. A rejection counts as a reason too. */
export type WhyNot = () => Promise<string | undefined> | string | undefined;

export interface WaitOptions {
  /** How long the condition may take, in milliseconds; a minute unless told, which is enough for what a cluster does by itself. */
  readonly deadlineMs?: number;
  /** Pause between two looks, in milliseconds. */
  readonly everyMs?: number;
}

/**
 * Looks at a condition until it holds. After the deadline it rejects with the last reason why it did not. An error of the class
 * ControlPlaneError ends the wait at once: it says that waiting longer cannot help.
 */
export async function waitUntil(what: string, whyNot: WhyNot, options: WaitOptions = {}): Promise<void> {
  const { deadlineMs = 60_000, everyMs = 50 } = options;
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const reason = await reasonOf(whyNot);
    if (reason === undefined) return;
    if (performance.now() >= deadline) {
      throw new ControlPlaneError(
        "EK_CLUSTER_DEADLINE",
        `${what}: not after ${deadlineMs / 1000} s; last seen: ${reason}`,
      );
    }
    await sleep(everyMs);
  }
}

async function reasonOf(whyNot: WhyNot): Promise<string | undefined> {
  try {
    return await whyNot();
  } catch (error) {
    if (error instanceof ControlPlaneError) throw error;
    return messageOf(error);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { ControlPlaneError, messageOf } from "./errors.ts";

/** Why the condition is not met yet; undefined once it is. A rejection counts as a reason. */
export type WhyNot = () => Promise<string | undefined> | string | undefined;

export interface WaitOptions {
  /** Maximum milliseconds; default: a minute. */
  readonly deadlineMs?: number;
  /** Milliseconds between two checks. */
  readonly everyMs?: number;
}

/**
 * Checks a condition until it is met. After the deadline it rejects with the last reason. A ControlPlaneError ends the
 * wait at once, because waiting longer cannot help.
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

import { isSystemError } from "./errors.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { waitUntil } from "./wait.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
export const GRACE_MS = 5_000;

/** SIGKILL takes effect at once unless the kernel itself hangs, for example on a dead disk. */
const KILL_DEADLINE_MS = 10_000;

/** Sends a signal if this process still runs, never to another process with its pid. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!isSystemError(error, "ESRCH")) throw error;
  }
}

/** Kills all of them, without waiting. */
export function killProcesses(identities: readonly ProcessIdentity[]): void {
  for (const identity of identities) signalProcess(identity, "SIGKILL");
}

/** Ends all of them: SIGTERM, and SIGKILL for those that remain after `graceMs`. Resolves when all have ended. */
export async function endProcesses(identities: readonly ProcessIdentity[], graceMs: number = GRACE_MS): Promise<void> {
  for (const identity of identities) {
    signalProcess(identity, "SIGTERM");
    // A paused process handles SIGTERM only after it continues.
    signalProcess(identity, "SIGCONT");
  }
  const survivors = (): ProcessIdentity[] => identities.filter(isAlive);
  const whyNot = (): string | undefined => {
    const pids = survivors().map(({ pid }) => pid);
    return pids.length === 0 ? undefined : `still running: ${pids.join(", ")}`;
  };
  await waitUntil("processes end after SIGTERM", whyNot, { deadlineMs: graceMs, everyMs: 20 }).catch(async () => {
    for (const identity of survivors()) signalProcess(identity, "SIGKILL");
    await waitUntil("processes end after SIGKILL", whyNot, { deadlineMs: KILL_DEADLINE_MS, everyMs: 20 });
  });
}

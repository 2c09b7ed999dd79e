import { signalProcess } from "./process-end.ts";
import type { ProcessIdentity } from "./process-identity.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Tells the guard's own listeners from those of the program. */
const GUARD = Symbol("control-plane exit guard");

/**
 * Kills processes when this one ends by exit, by an uncaught error or by a signal that can be caught. A program that handles such
 * a signal itself keeps its say: the guard then acts on its exit. Returns how to disarm it.
 *
 * After SIGKILL, and inside Jest, whose `process` hides the real one's events, nothing is called: then the next sweep ends them.
 */
export function endWithThisProcess(processes: () => readonly ProcessIdentity[]): () => void {
  const kill = (): void => {
    for (const identity of processes()) signalProcess(identity, "SIGKILL");
  };
  const onSignal = Object.assign(
    (signal: NodeJS.Signals): void => {
      if (process.listeners(signal).some((listener) => !(GUARD in listener))) return;
      kill();
      disarm();
      // The last guard gives the signal the effect that it would have had without guards.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
    { [GUARD]: true },
  );
  const disarm = (): void => {
    process.off("exit", kill);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.on("exit", kill);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return disarm;
}

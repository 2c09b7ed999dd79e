const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Tells the guard's own listeners from those of the program. */
const GUARD = Symbol("control-plane exit guard");

/**
 * Calls `end`, which must be synchronous, when this one ends by exit, by an uncaught error or by a signal that can be caught. A program that handles such
 * a signal itself keeps its say: the guard then acts on its exit. Returns how to disarm it.
 *
 * After SIGKILL, and inside Jest, whose `process` hides the real one's events, nothing is called: the next sweep does it then.
 */
export function endWithThisProcess(end: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals): void => {
      if (process.listeners(signal).some((listener) => !(GUARD in listener))) return;
      end();
      disarm();
      // The last guard gives the signal the effect that it would have had without guards.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
    { [GUARD]: true },
  );
  const disarm = (): void => {
    process.off("exit", end);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.on("exit", end);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return disarm;
}

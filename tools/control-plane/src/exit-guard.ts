const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Distinguishes the guard's listeners from those of the program. */
const GUARD = Symbol("control-plane exit guard");

/**
 * Calls `end`, which must be synchronous, when this process ends by exit, an uncaught error or a signal that can be
 * caught. If the program handles such a signal itself, the guard acts at its exit. Returns a function that disarms it.
 *
 * After SIGKILL, and inside Jest, which hides the events of the real process, nothing is called. The next sweep cleans
 * up then.
 */
export function endWithThisProcess(end: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals): void => {
      if (process.listeners(signal).some((listener) => !(GUARD in listener))) return;
      end();
      disarm();
      // The last guard sends the signal again, so that it has its default effect.
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

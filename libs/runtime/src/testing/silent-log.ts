import { createLogger, type Logger } from "../log.ts";

/** A logger that writes nothing. */
export function silentLog(): Logger {
  return createLogger({ service: "test", level: "silent", secrets: [], destination: { write: () => undefined } });
}

import { MetricRegistry } from "@evenkeel/metrics";
import { type Clock, createLogger, systemClock } from "@evenkeel/runtime";
import { openState, type State } from "@evenkeel/state";

export interface OpenedState {
  readonly state: State;
  readonly registry: MetricRegistry;
  /** The log lines so far. */
  readonly lines: readonly string[];
  readonly close: () => Promise<void>;
}

/** A state as a service's main opens it. */
export async function openedState(
  address: string,
  options: { readonly deadline?: number; readonly clock?: Clock; readonly service?: string } = {},
): Promise<OpenedState> {
  const { deadline = 1000, clock = systemClock, service = "contract" } = options;
  const registry = new MetricRegistry();
  const lines: string[] = [];
  const log = createLogger({
    service,
    level: "info",
    secrets: [],
    destination: { write: (line: string) => lines.push(line) },
  });
  const state = openState(address, { service, clock, log, registry, deadline });
  const stopping = new AbortController();
  await state.start?.({ signal: stopping.signal, fail: (cause) => lines.push(String(cause)) });
  return {
    state,
    registry,
    lines,
    close: async () => {
      stopping.abort();
      await state.stop?.(AbortSignal.timeout(1000));
    },
  };
}

import { nameOfKey } from "@evenkeel/kube";
import type { ReadBoard } from "./object-board.ts";

/** An answer of a Watch method: what there is of an object, or that it is gone. */
export interface BoardEvent<Event> {
  readonly event: Event | { readonly $case: "removed"; readonly value: RemovedObject };
}

export interface RemovedObject {
  readonly namespace: string;
  readonly name: string;
}

export interface WatchOptions<View, Event> {
  /** Whether the reader asked for this key. */
  readonly selects: (key: string) => boolean;
  /** The field of the answer's `oneof` that shows an object. */
  readonly event: (view: View) => Event;
  readonly signal: AbortSignal;
}

/**
 * First every selected object, then each that something happened to, until the signal aborts. Changes that come faster
 * than they are read become one, so that a slow reader costs no more than a list of names.
 */
export async function* watchBoard<View, const Event extends { readonly $case: string }>(
  board: ReadBoard<View>,
  { selects, event, signal }: WatchOptions<View, Event>,
): AsyncGenerator<BoardEvent<Event>> {
  const changed = new Set(board.keys().filter(selects));
  let wake: () => void = () => undefined;
  const unsubscribe = board.subscribe((key) => {
    if (!selects(key)) return;
    changed.add(key);
    wake();
  });
  const stop = () => wake();
  signal.addEventListener("abort", stop);
  try {
    // Checked after each answer too: while one is being read, nothing waits for the signal.
    while (!signal.aborted) {
      const [key] = changed;
      if (key === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      changed.delete(key);
      const view = board.get(key);
      yield { event: view === undefined ? { $case: "removed", value: removed(key) } : event(view) };
    }
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", stop);
  }
}

function removed(key: string): RemovedObject {
  const { namespace = "", name } = nameOfKey(key);
  return { namespace, name };
}

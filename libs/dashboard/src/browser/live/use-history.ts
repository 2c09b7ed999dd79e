import { useEffect, useRef } from "preact/hooks";
import { type Loaded, useLoaded } from "./hooks.ts";

/** How often the history is asked for when nothing changes, and at most when much does; milliseconds. */
const INTERVAL = 30_000;
const AT_MOST = 1000;

/**
 * How an object came to where it is. A change, told by another `stamp`, is seen in it at once; many changes in a row, once in a while.
 */
export function useHistory<T>(
  key: string,
  stamp: readonly unknown[],
  load: (signal: AbortSignal) => Promise<T>,
): Loaded<T> & { readonly reload: () => void } {
  const history = useLoaded(key, load, INTERVAL);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(history.reload);
  latest.current = history.reload;
  const text = JSON.stringify(stamp);
  const last = useRef(text);
  useEffect(() => {
    if (last.current === text) return;
    last.current = text;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, AT_MOST);
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return history;
}

import { useEffect, useRef } from "preact/hooks";
import { type Loaded, useLoaded } from "./hooks.ts";

/** Milliseconds between two requests of the history without changes, and the minimum with many changes. */
const INTERVAL = 30_000;
const AT_MOST = 1000;

/**
 * The history of an object. A change, which is another `stamp`, is shown at once; many changes in a row are shown
 * together.
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

import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { useStream } from "./hooks.ts";

/** Events that come within this time are shown together, in milliseconds. */
const TOGETHER = 50;
/** A connection that told of nothing for this long has nothing to tell, in milliseconds. */
const NOTHING = 1000;

type Known<T> = ReadonlyMap<string, T>;

/**
 * What a method that watches tells of, by key, followed live. Nothing while it was not told yet. A new connection tells everything again,
 * and what it does not tell is gone. `withEvent` puts an event, of whatever type the method has, into what is known.
 */
export function useWatched<T>(
  api: Api,
  method: string,
  withEvent: (known: Known<T>, event: never) => Known<T>,
): Known<T> | undefined {
  const [shown, setShown] = useState<Known<T>>();
  const waiting = useRef<{ anew: boolean; readonly events: never[] }>({ anew: true, events: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = () => {
    timer.current = undefined;
    const { anew, events } = waiting.current;
    waiting.current = { anew: false, events: [] };
    setShown((known) => events.reduce<Known<T>>(withEvent, anew || !known ? new Map<string, T>() : known));
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream<never>(api.address(method), {
    opened: () => {
      waiting.current = { anew: true, events: [] };
      clearTimeout(timer.current);
      timer.current = setTimeout(show, NOTHING);
    },
    message: (event) => {
      const first = waiting.current.events.push(event) === 1;
      if (!first) return;
      clearTimeout(timer.current);
      timer.current = setTimeout(show, TOGETHER);
    },
  });
  return shown;
}

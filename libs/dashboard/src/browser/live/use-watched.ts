import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { keyOf, type ObjectName } from "../objects/object-name.ts";
import { useStream } from "./hooks.ts";

/** Events that arrive within this time are shown together, in milliseconds. */
const TOGETHER = 50;
/** Milliseconds after which a connection without events counts as empty. */
const NOTHING = 1000;

type Known<T> = ReadonlyMap<string, T>;

interface WatchEvent {
  readonly removed?: ObjectName;
  readonly [field: string]: unknown;
}

/** How objects of a kind are watched. */
export interface WatchedKind<T> {
  /** The method, such as `Weights/Watch`. */
  readonly watch: string;
  /** The field of an event with a new or changed object; `removed` has the name of a deleted one. */
  readonly field: string;
  readonly nameOf: (object: T) => ObjectName;
}

/**
 * The objects of a watch method, in the order of their keys, followed live. Undefined until they are known. A new
 * connection sends everything again, and objects that it does not send are removed.
 */
export function useWatched<T>(api: Api, { watch, field, nameOf }: WatchedKind<T>): Known<T> | undefined {
  const withEvent = (known: Known<T>, event: WatchEvent): Known<T> => {
    const next = new Map(known);
    const object = event[field] as T | undefined;
    if (event.removed) next.delete(keyOf(event.removed));
    if (object !== undefined) next.set(keyOf(nameOf(object)), object);
    return new Map([...next].toSorted(([one], [other]) => one.localeCompare(other)));
  };
  const [shown, setShown] = useState<Known<T>>();
  const waiting = useRef<{ anew: boolean; readonly events: WatchEvent[] }>({ anew: true, events: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = () => {
    timer.current = undefined;
    const { anew, events } = waiting.current;
    waiting.current = { anew: false, events: [] };
    setShown((known) => events.reduce<Known<T>>(withEvent, anew || !known ? new Map<string, T>() : known));
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream<WatchEvent>(api.address(watch), {
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

import { type Api, useStream } from "@evenkeel/dashboard/browser";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Service, type WatchEvent, withEvent } from "./service.ts";

/** Events that come within this time are shown together, in milliseconds. */
const TOGETHER = 50;
/** A connection that told of nothing for this long has nothing to tell, in milliseconds. */
const NOTHING = 1000;

/**
 * Every Service by namespace and name, followed live. Nothing while they were not told yet. A new connection tells everything again,
 * and what it does not tell is gone.
 */
export function useServices(api: Api): ReadonlyMap<string, Service> | undefined {
  const [services, setServices] = useState<ReadonlyMap<string, Service>>();
  const waiting = useRef<{ anew: boolean; readonly events: WatchEvent[] }>({ anew: true, events: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = () => {
    timer.current = undefined;
    const { anew, events } = waiting.current;
    waiting.current = { anew: false, events: [] };
    setServices((known) => events.reduce(withEvent, anew || !known ? new Map<string, Service>() : known));
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream<WatchEvent>(api.address("Resolver/Watch"), {
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
  return services;
}

import { type Api, useStream } from "@evenkeel/dashboard/browser";
import { useEffect, useRef, useState } from "preact/hooks";
import { type WatchEvent, type Weight, withEvent } from "./weight.ts";

/** Events that come within this time are shown together, in milliseconds. */
const TOGETHER = 50;
/** A connection that told of nothing for this long has nothing to tell, in milliseconds. */
const NOTHING = 1000;

/**
 * Every Rebalance by namespace and name, followed live. Nothing while they were not told yet. A new connection tells everything again,
 * and what it does not tell is gone.
 */
export function useWeights(api: Api): ReadonlyMap<string, Weight> | undefined {
  const [weights, setWeights] = useState<ReadonlyMap<string, Weight>>();
  const waiting = useRef<{ anew: boolean; readonly events: WatchEvent[] }>({ anew: true, events: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = () => {
    timer.current = undefined;
    const { anew, events } = waiting.current;
    waiting.current = { anew: false, events: [] };
    setWeights((known) => events.reduce(withEvent, anew || !known ? new Map<string, Weight>() : known));
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream<WatchEvent>(api.address("Weights/Watch"), {
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
  return weights;
}

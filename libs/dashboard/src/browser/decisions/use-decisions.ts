import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { useLoaded, useStream } from "../live/hooks.ts";
import type { Decision } from "./decision.ts";
import { mergeDecisions } from "./decision-log.ts";

/** Number of past decisions that are requested. */
const PAST = 500;
/** Decisions that arrive within this time are shown together, in milliseconds. */
const TOGETHER = 60;

/** Milliseconds between two requests to a service without streams. */
const POLL = 3000;

/**
 * The last decisions of this service, the newest first, followed live. A service without a stream is polled. Undefined
 * until they are known.
 */
export function useDecisions(api: Api): readonly Decision[] | undefined {
  const [decisions, setDecisions] = useState<readonly Decision[]>();
  const [absent, setAbsent] = useState(false);
  const waiting = useRef<Decision[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const flush = useCallback(() => {
    timer.current = undefined;
    const news = waiting.current.splice(0);
    setDecisions((known) => mergeDecisions(known ?? [], news));
  }, []);
  const soon = () => {
    timer.current ??= setTimeout(flush, TOGETHER);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream<{ readonly decision: Decision }>(api.address("Decisions/Watch", { last: PAST }), {
    opened: soon,
    absent: () => setAbsent(true),
    message: ({ decision }) => {
      waiting.current.push(decision);
      soon();
    },
  });
  const list = async (signal: AbortSignal) => {
    if (!absent) return [];
    return (await api.get<{ readonly decisions: readonly Decision[] }>("Decisions/List", { limit: PAST }, signal))
      .decisions;
  };
  const { data: listed } = useLoaded(String(absent), list, absent ? POLL : undefined);
  useEffect(() => {
    if (absent && listed) setDecisions((known) => mergeDecisions(known ?? [], listed.toReversed()));
  }, [absent, listed]);
  return decisions;
}

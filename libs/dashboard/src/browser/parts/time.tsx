import { useNow } from "../live/hooks.ts";
import { exactTime, relativeTime } from "../words/relative-time.ts";

/** How long ago something was; the exact time is shown on hover. */
export function Time({ at }: { readonly at: string | number }) {
  const now = useNow();
  const moment = typeof at === "number" ? at : Date.parse(at);
  const known = Number.isFinite(moment);
  return (
    <time dateTime={known ? new Date(moment).toISOString() : ""} title={exactTime(moment)}>
      {relativeTime(moment, now)}
    </time>
  );
}

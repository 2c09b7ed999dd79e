import { useConnectionState, useNow } from "../live/hooks.ts";
import { Time } from "../parts/time.tsx";

/**
 * Shows that the page is disconnected, since when, and when it retries. `fault` is that of the service's state, which
 * is requested regularly.
 */
export function Banner({ fault }: { readonly fault: string | undefined }) {
  const state = useConnectionState();
  const now = useNow(500);
  if (state.phase !== "waiting") {
    if (fault === undefined) return null;
    return (
      <div class="banner" role="alert">
        <p>
          <strong>No answer</strong>: {fault}. What you see may be old.
        </p>
      </div>
    );
  }
  const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
  return (
    <div class="banner" role="alert">
      <p>
        <strong>Disconnected</strong> <Time at={state.since} />: {state.fault}. What you see may be old.
      </p>
      <p class="banner-retry">
        <span>{seconds > 0 ? `Next try in ${seconds} s` : "Trying…"}</span>
        <button type="button" onClick={state.retryNow}>
          Try now
        </button>
      </p>
    </div>
  );
}

/** Whether the page is updated live. */
export function LiveSign() {
  const { phase } = useConnectionState();
  const words = { live: "Live", connecting: "Connecting", waiting: "Disconnected" }[phase];
  return (
    <span class={`live-sign ${phase}`} title={phase === "live" ? "Changes are shown as they happen" : words}>
      {words}
    </span>
  );
}

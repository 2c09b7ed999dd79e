import { useConnectionState } from "../live/hooks.ts";
import { Badge } from "../parts/badge.tsx";
import { Card, Stat } from "../parts/card.tsx";
import { spanText } from "../words/relative-time.ts";
import type { Status } from "./status.ts";

/** Whether the service should get traffic, and each reason why not. */
export function HealthPage({ status }: { readonly status: Status }) {
  const { phase, uptime, version, unready } = status;
  const connection = useConnectionState();
  return (
    <>
      <div class="stats">
        <Stat
          label="State"
          value={unready.length === 0 ? "Ready" : "Not ready"}
          note={`phase: ${phase}`}
          tone={unready.length === 0 ? undefined : "bad"}
        />
        <Stat label="Up for" value={spanText(uptime)} note="since the process started" />
        <Stat label="Version" value={version} note={status.service} />
        <Stat
          label="This page"
          value={{ live: "Live", connecting: "Connecting", waiting: "Disconnected" }[connection.phase]}
          note="news by server-sent events"
          tone={connection.phase === "waiting" ? "bad" : undefined}
        />
      </div>
      <Card title="Not ready because of">
        {unready.length === 0 ? (
          <p class="all-well">
            <Badge tone="ok">Ready</Badge> Nothing keeps this service from working.
          </p>
        ) : (
          <ul class="checks">
            {unready.map(({ name, reason }) => (
              <li key={name}>
                <Badge tone="bad">{name}</Badge> {reason}
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="More">
        <ul class="links">
          <li>
            <a href="../metrics">Metrics</a> <span class="quiet">in Prometheus' text format</span>
          </li>
          <li>
            <a href="../">Status page</a> <span class="quiet">the same data without JavaScript</span>
          </li>
        </ul>
      </Card>
    </>
  );
}

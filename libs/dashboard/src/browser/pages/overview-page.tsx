import type { Api } from "../api/api.ts";
import { type Decision, isChange } from "../decisions/decision.ts";
import { DecisionTable } from "../decisions/decision-table.tsx";
import { Card, Stat } from "../parts/card.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { routeLink } from "../shell/route.ts";
import { spanText } from "../words/relative-time.ts";
import type { Status } from "./status.ts";

export interface OverviewPageProps {
  readonly api: Api;
  readonly status: Status;
  readonly decisions: readonly Decision[] | undefined;
}

/** The first page of a service without its own. */
export function OverviewPage({ api, status, decisions }: OverviewPageProps) {
  const [last] = decisions ?? [];
  const reasons = [...Map.groupBy(decisions ?? [], ({ reason }) => reason)]
    .map(([reason, { length }]) => ({ reason, count: length }))
    .toSorted((one, other) => other.count - one.count);
  const most = reasons[0]?.count ?? 1;
  return (
    <>
      <div class="stats">
        <Stat
          label="State"
          value={status.unready.length === 0 ? "Ready" : "Not ready"}
          note={`up ${spanText(status.uptime)}`}
        />
        <Stat label="Decisions" value={decisions?.length ?? "–"} note="in memory" />
        <Stat label="Changes" value={decisions?.filter(isChange).length ?? "–"} note="among them" />
        <Stat label="Last decision" value={last ? <Time at={last.at} /> : "–"} note={last?.reason} />
      </div>
      <Card title="Why">
        {reasons.length === 0 ? (
          <Empty title="No decision yet">The first one appears here when it is made.</Empty>
        ) : (
          <ul class="reasons">
            {reasons.map(({ reason, count }) => (
              <li key={reason}>
                <a href={routeLink("decisions", { reason })}>{reason}</a>
                <meter min={0} max={most} value={count} aria-label={`${reason}: ${count} decisions`} />
                <span class="number">{count}</span>
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="Last decisions" aside={<a href={routeLink("decisions")}>All decisions</a>}>
        {decisions === undefined ? (
          <Loading what="decisions" />
        ) : decisions.length === 0 ? (
          <Empty title="No decision yet" />
        ) : (
          <DecisionTable api={api} service={status.service} decisions={decisions.slice(0, 8)} />
        )}
      </Card>
    </>
  );
}

import {
  Badge,
  Conditions,
  Empty,
  keyOf,
  LastDecisions,
  numberText,
  ObjectHead,
  type PageProps,
  Stat,
  useDecisionsOf,
} from "@evenkeel/dashboard/browser";
import { CollectorBars } from "./collector-bars.tsx";
import { type Fleet, type Shares, stateOf } from "./fleet.ts";
import { MovementChart } from "./movement-chart.tsx";
import { TargetSearch } from "./target-search.tsx";

export interface FleetDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly fleet: Fleet;
}

/** One CollectorLoadBalancer: how level its collectors are, what moves, and why. */
export function FleetDetail({ fleet, ...page }: FleetDetailProps) {
  const { name, value: shares, conditions } = fleet;
  const key = keyOf(name);
  const object = `CollectorLoadBalancer/${key}`;
  const decisions = useDecisionsOf(object, page);
  return (
    <article class="fleet-detail" aria-label={key}>
      <Head fleet={fleet} act={page.act} />
      {shares === undefined ? (
        <Empty title="No shares yet">The replica that leads shows the share of each collector.</Empty>
      ) : (
        <>
          <Facts shares={shares} />
          <CollectorBars shares={shares} />
          <MovementChart name={key} shares={shares} />
          <TargetSearch api={page.api} object={name} />
        </>
      )}
      <Conditions conditions={conditions} neutral={["Paused"]} />
      <LastDecisions {...page} {...{ object, decisions }} />
    </article>
  );
}

function Head({ fleet, act }: Pick<FleetDetailProps, "fleet" | "act">) {
  const { name, paused, dryRun } = fleet;
  const [tone, word] = stateOf(fleet);
  const title = paused ? "Resume" : "Pause";
  const consequence = paused
    ? `Targets of ${name.name} move again.`
    : `No target of ${name.name} moves and its collectors stay as they are, until you resume it.`;
  const action = { title, consequence, method: `Objects/${title}`, request: { object: name } };
  return (
    <ObjectHead name={name} decided={fleet} actions={[action]} act={act}>
      <Badge tone={tone}>{word}</Badge>
      {dryRun && <Badge tone="quiet">Dry run</Badge>}
    </ObjectHead>
  );
}

function Facts({ shares }: { readonly shares: Shares }) {
  const { targets, collectorCount, maxOverMean, minOverMean, moves, handingOver } = shares;
  return (
    <div class="stats">
      <Stat label="Targets" value={targets === null ? "unknown" : String(targets)} note="to be scraped" />
      <Stat label="Collectors" value={String(collectorCount)} note="that own targets" />
      <Stat label="Most loaded" value={numberText(maxOverMean ?? undefined)} note="of the mean load" />
      <Stat label="Least loaded" value={numberText(minOverMean ?? undefined)} note="of the mean load" />
      <Stat label="Moving" value={String(handingOver)} note={`${moves} decided last`} />
    </div>
  );
}

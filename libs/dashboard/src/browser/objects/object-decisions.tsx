import { useMemo } from "preact/hooks";
import { type Decision, objectKey } from "../decisions/decision.ts";
import { mergeDecisions } from "../decisions/decision-log.ts";
import { DecisionTable } from "../decisions/decision-table.tsx";
import { useLoaded } from "../live/hooks.ts";
import { Card } from "../parts/card.tsx";
import { Empty } from "../parts/states.tsx";
import { routeLink } from "../shell/route.ts";
import type { PageProps } from "../view.ts";

/** The decisions about one object, the newest first, followed live. `object` is `kind/namespace/name`. */
export function useDecisionsOf(
  object: string,
  { api, decisions }: Pick<PageProps, "api" | "decisions">,
): readonly Decision[] {
  const listed = useLoaded(object, (signal) =>
    api.get<{ readonly decisions: readonly Decision[] }>("Decisions/List", { object, limit: 200 }, signal),
  );
  return useMemo(() => {
    const live = decisions?.filter((decision) => objectKey(decision.object) === object) ?? [];
    return mergeDecisions(live, listed.data?.decisions.toReversed() ?? []);
  }, [decisions, listed.data, object]);
}

export interface LastDecisionsProps extends Pick<PageProps, "api" | "service"> {
  readonly object: string;
  readonly decisions: readonly Decision[];
}

export function LastDecisions({ object, decisions, ...page }: LastDecisionsProps) {
  return (
    <Card title="Last decisions" aside={<a href={routeLink("decisions", { text: object })}>All of this one</a>}>
      {decisions.length === 0 ? (
        <Empty title="No decision yet" />
      ) : (
        <DecisionTable {...page} decisions={decisions.slice(0, 6)} withObject={false} />
      )}
    </Card>
  );
}

import { Badge, Empty, ObjectsPage, type PageProps } from "@evenkeel/dashboard/browser";
import { type Fleet, stateOf } from "./fleet.ts";
import { FleetDetail } from "./fleet-detail.tsx";

/** Every CollectorLoadBalancer, and the collectors of the chosen one. */
export function FleetsPage({ query, ...page }: PageProps) {
  return (
    <ObjectsPage<Fleet>
      api={page.api}
      query={query}
      kind="CollectorLoadBalancer"
      watch="Objects/Watch"
      field="object"
      nameOf={({ name }) => name}
      empty={
        <Empty title="No CollectorLoadBalancers">
          Create one: <code>kubectl apply -f collectors.yaml</code>
        </Empty>
      }
      entry={(fleet) => <Entry {...fleet} />}
      detail={(fleet) => <FleetDetail {...page} fleet={fleet} />}
    />
  );
}

function Entry(fleet: Fleet) {
  const [tone, word] = stateOf(fleet);
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      <span class="entry-facts number" title="Targets, and collectors that own them">
        {fleet.value?.targets ?? "?"} <span class="quiet">on {fleet.value?.collectorCount ?? "?"}</span>
      </span>
    </>
  );
}

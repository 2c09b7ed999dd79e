import { Badge, Empty, numberText, ObjectsPage, type PageProps, Time } from "@evenkeel/dashboard/browser";
import { ServiceDetail } from "./service-detail.tsx";
import { pendingOf, type Service, stateWord, toneOf } from "./service.ts";

/** A list of all Services, and the selected one in detail. */
export function ServicesPage({ query, ...page }: PageProps) {
  return (
    <ObjectsPage<Service>
      api={page.api}
      query={query}
      kind="Service"
      watch="Resolver/Watch"
      field="service"
      nameOf={({ service }) => service}
      empty={
        <Empty title="No ElastiServices">
          Apply one and its Service shows up here: <code>kubectl apply -f elastiservice.yaml</code>
        </Empty>
      }
      entry={(shown) => <Entry {...shown} />}
      detail={(shown) => <ServiceDetail {...page} shown={shown} />}
    />
  );
}

function Entry(shown: Service) {
  const { state, since, replicas, pods, paused } = shown;
  const pending = pendingOf(shown);
  const running = pods?.ready ?? replicas;
  return (
    <>
      <Badge tone={toneOf(state)}>{stateWord(state)}</Badge>
      <span class="entry-facts">
        <span class={pending ? "entry-pending" : ""}>{numberText(pending)} waiting</span>{" "}
        <span class="quiet">
          · {running === undefined ? "– pods" : `${running} ${running === 1 ? "pod" : "pods"}`}
          {paused && " · paused"}
        </span>
      </span>
      <span class="entry-facts number quiet">{since !== undefined && <Time at={since} />}</span>
    </>
  );
}

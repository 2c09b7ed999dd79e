import { Empty, Loading, type PageProps, useWatched } from "@evenkeel/dashboard/browser";
import { ServiceDetail } from "./service-detail.tsx";
import { ServiceList } from "./service-list.tsx";
import { keyOf, type Service, withEvent } from "./service.ts";

/** Every Service in a list, and the chosen one in full. */
export function ServicesPage({ api, act, service, decisions, query }: PageProps) {
  const services = useWatched<Service>(api, "Resolver/Watch", withEvent);
  if (!services) return <Loading what="services" />;
  const chosen = services.get(query["service"] ?? "") ?? services.values().next().value;
  if (!chosen) {
    return (
      <Empty title="There is no ElastiService">
        Apply one and its Service shows up here: <code>kubectl apply -f elastiservice.yaml</code>
      </Empty>
    );
  }
  return (
    <div class={services.size > 1 ? "services-page" : ""}>
      {services.size > 1 && <ServiceList services={[...services.values()]} chosen={chosen} />}
      <ServiceDetail key={keyOf(chosen.service)} {...{ api, act, service, decisions }} shown={chosen} />
    </div>
  );
}

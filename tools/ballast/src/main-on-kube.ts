import { hostname } from "node:os";
import {
  connectKube,
  events,
  EventRecorder,
  eventSink,
  kubeSettings,
  leaseContradictions,
  leaseLeadership,
  leases,
  leaseSettings,
} from "@evenkeel/kube";
import { main } from "@evenkeel/runtime";
import { composeBallast } from "./compose.ts";
import { ballast } from "./definition.ts";

/** The same service with a cluster at hand: it leads by a Lease and tells its decisions as Events. */
const onKube = {
  ...ballast,
  settings: { ...ballast.settings, ...kubeSettings, ...leaseSettings },
  contradictions: leaseContradictions,
};

await main(onKube, process, (service) => {
  const { settings, clock, log, decisions, registry } = service;
  const kube = service.use(
    connectKube({ settings, env: process.env, userAgent: "ballast", clock, log, metrics: registry }),
  );

  const instance = hostname();
  const common = { clock, random: Math.random, log };
  const recorder = new EventRecorder({
    ...common,
    events: kube.resource(events),
    controller: "evenkeel.io/ballast",
    instance,
  });
  decisions.addSink(eventSink({ recorder: service.use(recorder) }));
  const lease = { namespace: "default", name: "ballast", identity: instance, timing: settings };
  service.electBy(leaseLeadership({ ...common, ...lease, leases: kube.resource(leases, { lane: "urgent" }) }));

  composeBallast(service);
});

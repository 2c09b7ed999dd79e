import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import { AccessReviewer, connectKube, events, EventRecorder, eventSink, leaseLeadership, leases } from "@evenkeel/kube";
import { CachedAuthorizer, decisionsService, rpcServer, rpcTransport } from "@evenkeel/rpc";
import type { Environment, Service } from "@evenkeel/runtime";
import { DecisionStream, openState } from "@evenkeel/state";
import { scaleResolver } from "./definition.ts";

type ScaleResolver = Service<
  (typeof scaleResolver)["settings"],
  (typeof scaleResolver)["metrics"],
  (typeof scaleResolver)["decider"]
>;

/** What scale-resolver consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeScaleResolver(service: ScaleResolver, env: Environment, main: string): void {
  const { settings, clock, log, registry, decisions, admin } = service;
  const random = Math.random;
  const { name } = scaleResolver;

  // The world: the cluster, shared state, and what is looked at.
  const kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
  const stateOptions = { service: name, clock, log, registry, deadline: settings.stateDeadline };
  const state = service.use(openState(settings.state, stateOptions));

  // Who hears of decisions.
  const instance = hostname();
  const controller = `evenkeel.io/${name}`;
  const recorder = service.use(
    new EventRecorder({ events: kube.resource(events), controller, instance, clock, random, log }),
  );
  decisions.addSink(eventSink({ recorder }));
  const stream = service.use(new DecisionStream({ state, clock, log, registry, whileAway: decisions.ring }));
  decisions.addSink(stream);

  // The loop, on the leader alone.
  if (settings.leaderElect) {
    const leaseOf = { namespace: settings.leaseNamespace, name, identity: instance, timing: settings };
    service.electBy(
      leaseLeadership({ ...leaseOf, leases: kube.resource(leases, { lane: "urgent" }), clock, random, log }),
    );
  }

  // The doors.
  const transport = rpcTransport(service);
  if (transport !== "insecure") service.use(transport);
  const rpc = rpcServer(service, transport, new CachedAuthorizer(new AccessReviewer(kube), { clock }));
  rpc.add(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
  rpc.serveJson(admin.routes);
  dashboard(service, main);
  service.open(rpc);
}

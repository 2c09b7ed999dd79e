import { decisionsService, rpcContradictions, rpcServer, rpcSettings, rpcTransport } from "@evenkeel/rpc";
import { main } from "@evenkeel/runtime";
import { DecisionStream, openState, stateSettings } from "@evenkeel/state";
import { composeBallast } from "./compose.ts";
import { ballast } from "./definition.ts";

/**
 * The same service in company: its decisions go to shared state, and anyone can read and watch them by gRPC and JSON.
 */
const withPeers = {
  ...ballast,
  settings: { ...ballast.settings, ...stateSettings, ...rpcSettings },
  contradictions: rpcContradictions,
};

await main(withPeers, process, (service) => {
  const { settings, clock, log, registry, decisions, admin } = service;
  const state = service.use(
    openState(settings.state, { service: "ballast", clock, log, registry, deadline: settings.stateDeadline }),
  );
  const stream = service.use(new DecisionStream({ state, clock, log, registry }));
  decisions.addSink(stream);

  const transport = rpcTransport(service);
  if (transport !== "insecure") service.use(transport);
  const rpc = rpcServer(service, transport);
  rpc.add(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
  rpc.serveJson(admin.routes, { reads: settings.readAccess, objects: [] });
  service.open(rpc);

  composeBallast(service);
});

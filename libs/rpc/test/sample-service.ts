import { type Decider, main, runtimeSettings, type Snapshot } from "@evenkeel/runtime";
import { decisionsService, rpcContradictions, rpcServer, rpcSettings, rpcTransport } from "../src/index.ts";
import { resolver } from "../src/testing/rpc-world.ts";

const decider: Decider<Snapshot & { readonly beat: number }> = {
  actions: ["beat"],
  reasons: ["Interval"],
  decide: ({ beat }) => ({
    object: { kind: "Heart", name: "sample" },
    action: "beat",
    reason: "Interval",
    before: beat - 1,
    after: beat,
    message: `beat ${beat}`,
  }),
};

/**
 * A whole service with nothing to do but decide ten times a second: `Activity` answers when it is asked to, after
 * `namespace` milliseconds.
 */
await main(
  {
    name: "sample",
    summary: "A service for tests.",
    version: "1",
    settings: { ...runtimeSettings, ...rpcSettings },
    metrics: {},
    decider,
    contradictions: rpcContradictions,
  },
  process,
  (service) => {
    const { clock, decisions } = service;
    const rpc = rpcServer(service, rpcTransport(service));
    rpc.add(decisionsService({ source: decisions.ring, recording: (id) => decisions.recording(id) }));
    rpc.add(
      resolver({
        activity: ({ namespace }) =>
          new Promise((resolve) => clock.schedule(Number(namespace), () => resolve({ services: [] }))),
      }),
    );
    rpc.serveJson(service.admin.routes, { reads: service.settings.readAccess, objects: [] });
    service.open(rpc);
    let beat = 0;
    service.leadEvery("heart", 100, () => {
      beat += 1;
      decisions.decide({ at: new Date(clock.now()).toISOString(), beat });
      return Promise.resolve();
    });
  },
);

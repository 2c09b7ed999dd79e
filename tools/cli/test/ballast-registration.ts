import { ballast } from "@evenkeel/ballast";
import type { Registration } from "../src/index.ts";

/** The fixture service as the command line would know it, if it were a product. */
export const ballastRegistration: Registration = {
  name: "ballast",
  decider: () => Promise.resolve(ballast.decider),
  place: { namespace: "harbour", service: "ballast", port: "8080" },
  serviceAccount: "ballast",
  kinds: [{ group: "harbour.test", version: "v1", kind: "Tank", plural: "tanks", scope: "Cluster" }],
  rules: {
    objects: [{ why: "record Events", apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] }],
    own: [
      {
        ...{ why: "hold its Lease", verbs: ["get", "update"] },
        ...{ apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
      },
    ],
    cluster: [],
  },
  value: "the level",
  objects: async (client) => {
    const [newest] = await client.decisions({ limit: 1 });
    return newest === undefined ? [] : [newest];
  },
  describe: () => Promise.resolve([]),
};

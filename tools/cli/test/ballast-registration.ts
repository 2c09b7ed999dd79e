import { ballast } from "@evenkeel/ballast";
import type { Registration } from "../src/index.ts";

/** The fixture service as the command line would know it, if it were a product. */
export const ballastRegistration: Registration = {
  name: "ballast",
  definition: () => Promise.resolve(ballast),
  place: { namespace: "harbour", service: "ballast", port: "8080" },
  serviceAccount: "ballast",
  kinds: [{ group: "harbour.test", version: "v1", kind: "Tank", plural: "tanks", scope: "Cluster" }],
  rights: [
    { group: "coordination.k8s.io", resource: "leases", verbs: ["get", "update"], where: "own" },
    { group: "events.k8s.io", resource: "events", verbs: ["create"], where: "watched" },
  ],
  value: "the level",
  objects: async (client) => {
    const [newest] = await client.decisions({ limit: 1 });
    return newest === undefined ? [] : [newest];
  },
  describe: () => Promise.resolve([]),
};

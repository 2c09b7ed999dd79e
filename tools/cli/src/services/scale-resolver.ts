import type { Registration } from "./registration.ts";

const name = "scale-resolver";

export const scaleResolverRegistration: Registration = {
  name,
  definition: async () => (await import("@evenkeel/scale-resolver")).scaleResolver,
  place: { namespace: "evenkeel-system", service: name, port: "8080" },
  serviceAccount: name,
  kinds: [],
  rights: [
    { group: "events.k8s.io", resource: "events", verbs: ["create", "patch"], where: "watched" },
    { group: "coordination.k8s.io", resource: "leases", verbs: ["create"], where: "own" },
    { group: "coordination.k8s.io", resource: "leases", verbs: ["get", "update"], name, where: "own" },
  ],
  value: "the load",
  objects: async (client) => {
    const [newest] = await client.decisions({ limit: 1 });
    return newest === undefined ? [] : [newest];
  },
  describe: () => Promise.resolve([]),
};

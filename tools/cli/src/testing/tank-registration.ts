import type { Decider, Snapshot } from "@evenkeel/runtime";
import type { Registration } from "../services/registration.ts";
import { whatIf } from "../services/registration.ts";
import { number } from "../setting-kinds.ts";

interface Level extends Snapshot {
  readonly level: number;
}

/** Always holds. */
const decider: Decider<Level, "hold", "Calm", number> = {
  actions: ["hold"],
  reasons: ["Calm"],
  decide: ({ level }) => ({
    object: { kind: "Tank", namespace: "harbour", name: "fore" },
    ...{ action: "hold", reason: "Calm", before: level, after: level, message: `Level ${level} is calm` },
  }),
};

/** A service for tests that need no process. */
export const tankKeeper: Registration = {
  name: "tank-keeper",
  decider: () => Promise.resolve(decider),
  place: { namespace: "harbour", service: "tank-keeper", port: "8080" },
  serviceAccount: "tank-keeper",
  kinds: [
    { group: "harbour.test", version: "v1", kind: "Tank", plural: "tanks", scope: "Namespaced" },
    { group: "harbour.test", version: "v1", kind: "Harbour", plural: "harbours", scope: "Cluster" },
  ],
  rules: { objects: [], own: [], cluster: [] },
  value: "the level",
  objects: () => Promise.resolve([]),
  describe: () => Promise.resolve([]),
  whatIf: whatIf({
    kinds: ["Tank"],
    settings: { rain: number({ help: "Rain to suppose, in millimetres" }) },
    check: ({ rain }) => (rain === undefined ? "--rain is needed" : undefined),
    supposed: ({ rain }) => `rain ${rain ?? ""}`,
    ask: () => Promise.reject(new Error("it has no process")),
  }),
};

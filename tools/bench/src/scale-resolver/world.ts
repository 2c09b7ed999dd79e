// A process that is the API server, and writes down when somebody scales a workload.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startApiServer } from "@evenkeel/sim";
import { now } from "./now.ts";
import { answer } from "./remote.ts";

const definition = "../../../../charts/crds/elasti.truefoundry.com_elastiservices.yaml";

interface ScaleCall {
  readonly at: number;
  readonly path: string;
}

let calls: ScaleCall[] = [];
const api = await startApiServer({
  users: [{ name: "bench", groups: ["system:masters"], token: "bench" }],
  faults: ({ method, url = "" }) => {
    // By the service: the bench itself leaves its name.
    if (method === "PATCH" && url.endsWith("/scale")) calls.push({ at: now(), path: url });
    return "pass";
  },
});
api.load(readFileSync(join(import.meta.dirname, definition), "utf8"));

const methods = {
  url: () => api.url,
  /** The calls since the last question. */
  scaleCalls: () => {
    const since = calls;
    calls = [];
    return since;
  },
};
export type WorldProcess = typeof methods;
answer(methods);

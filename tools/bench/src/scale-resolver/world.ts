// A process that is the API server, and writes down when somebody scales a workload.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startApiServer } from "@evenkeel/sim";
import { now } from "./now.ts";
import { answer } from "./remote.ts";

const definition = "../../../../charts/scale-resolver/files/crds/elasti.truefoundry.com_elastiservices.yaml";

/** Somebody's wish to scale a workload. */
export interface ScaleCall {
  readonly at: number;
  /** Of the answer. */
  status: number;
}

let calls: ScaleCall[] = [];
const api = await startApiServer({
  users: [{ name: "bench", groups: ["system:masters"], token: "bench" }],
  faults: ({ method, url = "" }, response) => {
    if (method === "PATCH" && url.endsWith("/scale")) {
      const call = { at: now(), status: 0 };
      calls.push(call);
      response.on("finish", () => (call.status = response.statusCode));
    }
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

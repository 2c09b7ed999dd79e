// A process that is the API server, and writes down when a client scales a workload.
import { startApiServer } from "@evenkeel/sim";
import { ADMIN, definitionOf } from "@evenkeel/testkit";
import { now } from "./now.ts";
import { answer } from "./remote.ts";

/** Somebody's wish to scale a workload. */
export interface ScaleCall {
  readonly at: number;
  /** Of the answer. */
  status: number;
}

let calls: ScaleCall[] = [];
const api = await startApiServer({
  users: [ADMIN],
  faults: ({ method, url = "" }, response) => {
    if (method === "PATCH" && url.endsWith("/scale")) {
      const call = { at: now(), status: 0 };
      calls.push(call);
      response.on("finish", () => (call.status = response.statusCode));
    }
    return "pass";
  },
});
api.load(definitionOf("elastiservices"));

const methods = {
  url: () => api.url,
  /** Adds the objects of a manifest. */
  load: (manifest: string) => {
    api.load(manifest);
  },
  /** The calls since the last question. */
  scaleCalls: () => {
    const since = calls;
    calls = [];
    return since;
  },
};
export type WorldProcess = typeof methods;
answer(methods);

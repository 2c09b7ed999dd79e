import { describe, expect, test } from "@jest/globals";
import { at, type Json, numberAt, parseJson, without, withValue } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { KubeFault } from "./kube-status.ts";
import { MemberCalls } from "./member-calls.ts";
import { type Before, putBack } from "./put-back.ts";
import { commit, type Step, withQuery } from "./transaction.ts";
import { parseApiPath } from "./api-path.ts";

const MEMBER: Member = {
  ...{ name: "b", own: false, endpoint: "", original: false, label: "region-b", standing: "Ready", score: undefined },
};
const PATH = "/api/v1/namespaces/default/things/web";

/** One object in one member, which anybody may change. */
class Store {
  object: Json | undefined;
  readonly writes: string[] = [];
  /** The answer to a write, whatever it did. */
  answer = 200;

  constructor(object: Json | undefined) {
    this.object = object;
  }

  get calls(): MemberCalls {
    const identity = { user: "alice", uid: undefined, groups: [], extra: {} };
    const ask = async (_member: Member, _identity: unknown, request: { method: string; body?: Buffer | undefined }) => {
      const { method, body } = request;
      if (method !== "GET") this.writes.push(method);
      if (method === "DELETE") this.object = undefined;
      if (method === "POST" || method === "PUT") this.object = parseJson(String(body));
      const status = method !== "GET" ? this.answer : this.object === undefined ? 404 : 200;
      const text = Buffer.from(JSON.stringify(status < 300 ? (this.object ?? {}) : { kind: "Status", code: status }));
      const parts = (async function* () {
        yield await Promise.resolve(text);
      })();
      const read = async () => Promise.resolve(text);
      return Promise.resolve({ status, contentType: "application/json", warnings: [], body: parts, read, cancel() {} });
    };
    return new MemberCalls({ ask }, identity, { deadline: 1000, size: 2 ** 20 });
  }
}

const before = (object: Json | undefined): Before => ({
  ...{ member: MEMBER, path: PATH, object, method: object === undefined ? "POST" : "PUT", isScale: false },
});
const thing = (spec: Json, annotations: Json = {}): Json => ({ metadata: { name: "web", annotations }, spec });

describe("what is put back", () => {
  test("nothing where it is not known what the write made: it may be another's", async () => {
    for (const was of [undefined, thing({ a: 1 })]) {
      const store = new Store(thing({ a: 2 }));
      expect(await putBack(store.calls, before(was), undefined)).toBe("Failed");
      expect(store.writes).toEqual([]);
    }
  });
  test("what somebody changed since is left alone", async () => {
    const store = new Store(thing({ a: 3 }));
    expect(await putBack(store.calls, before(thing({ a: 1 })), thing({ a: 2 }))).toBe("ChangedSince");
    expect(store.writes).toEqual([]);
  });
  const choices = { clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"], ipFamilies: ["IPv4"] };
  test.each<[string, Json, Json]>([
    ["Deployment", thing({ a: 2 }), thing({ a: 2 }, { "deployment.kubernetes.io/revision": "2" })],
    ["claim", thing({ a: 2 }), thing({ a: 2, volumeName: "pv" }, { "pv.kubernetes.io/bind-completed": "yes" })],
    [
      "Service",
      thing({ clusterIP: "10.0.0.9", ports: [{ port: 80, nodePort: 30001 }] }),
      thing({ ...choices, ports: [{ port: 80, nodePort: 30002 }] }),
    ],
  ])("a %s in which a server or a controller filled something in", async (_kind, expected, now) => {
    const made = new Store(now);
    expect(await putBack(made.calls, before(undefined), expected)).toBe("AsBefore");
    expect(made.object).toBeUndefined();
    const was = without(withValue(expected, ["spec", "a"], 1), ["spec", "ports"]);
    const changed = new Store(now);
    expect(await putBack(changed.calls, before(was), expected)).toBe("AsBefore");
    expect(numberAt(changed.object, ["spec", "a"])).toBe(1);
    expect(at(changed.object, ["spec", "volumeName"])).toEqual(at(now, ["spec", "volumeName"]));
  });
});

test.each([500, 502, 504])("a write that was answered with %i and landed is undone", async (status) => {
  const store = new Store(undefined);
  store.answer = status;
  const made = thing({ a: 2 });
  const call = { method: "POST", path: PATH, body: Buffer.from(JSON.stringify(made)) } as const;
  const step: Step = { member: MEMBER, before: before(undefined), call };
  const agreed = { member: MEMBER, status: 201, json: made, body: call.body, contentType: "", warnings: [] };
  const fault: unknown = await commit(store.calls, [step], [agreed]).catch((error: unknown) => error);
  expect(fault instanceof KubeFault && fault.code).toBe(status);
  expect(store.writes).toEqual(["POST", "DELETE"]);
});

test("a query keeps what follows its second question mark", () => {
  const path = "/api/v1/namespaces/default/services?fieldManager=a?b&labelSelector=app%3Dweb";
  expect(parseApiPath(path)?.query.get("labelSelector")).toBe("app=web");
  expect(withQuery(path, "dryRun", "All")).toContain("labelSelector=app%3Dweb");
});

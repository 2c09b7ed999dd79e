import { expect, test } from "@jest/globals";
import { at, type Json, parseJson } from "../bodies/json-text.ts";
import { parsePatch } from "../bodies/patch-body.ts";
import { NoAuthority } from "../gateway/errors.ts";
import type { Member } from "../members/member.ts";
import { parseApiPath } from "./api-path.ts";
import { patching } from "./change.ts";
import { MemberCalls } from "./member-calls.ts";
import { MemberSteps } from "./member-steps.ts";
import { unreachable } from "./transaction.ts";

const MEMBER: Member = {
  ...{ name: "b", own: false, endpoint: "", original: false, label: "region-b", standing: "Ready", score: undefined },
};

test.each([
  ["sends the number that was read, and insists on what was read", "kubectl", '{"replicas":3}', "7"],
  ["leaves them out if another manager owns them, and insists all the same", "somebody", undefined, "7"],
])("an apply without replicas %s", (_does, manager, spec, version) => {
  const path = parseApiPath("/apis/apps/v1/namespaces/default/deployments/web?fieldManager=kubectl");
  if (path === undefined) throw new Error("no path");
  const change = patching(parsePatch("application/apply-patch+yaml", Buffer.from("metadata: {name: web}")));
  const steps = new MemberSteps({ path, kind: "Deployment", change, labels: false, dryRun: false }, "label");
  const owner = { manager, operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } };
  const metadata = { name: "web", resourceVersion: "7", managedFields: [owner] };
  const current: Json = { metadata, spec: { replicas: 3 } };
  const plan = { held: new Map([["b", current]]), versions: new Map([["b", "7"]]), split: undefined };
  const body = parseJson(String(steps.stepFor(MEMBER, plan)?.call.body));
  expect(JSON.stringify(at(body, ["spec"]))).toBe(spec);
  expect(at(body, ["metadata", "resourceVersion"])).toBe(version);
});

test("a member without an authority says so", async () => {
  const ask = async () => Promise.reject(new NoAuthority({ cluster: "b" }));
  const identity = { user: "alice", uid: undefined, groups: [], extra: {} };
  const calls = new MemberCalls({ ask }, identity, { deadline: 1000, size: 1000 });
  const { code, status, message } = unreachable([await calls.call(MEMBER, { method: "GET", path: "/" })]);
  expect([code, at(status, ["details", "causes", "0", "reason"])]).toEqual([503, "NoAuthority"]);
  expect(message).toContain("authority");
});

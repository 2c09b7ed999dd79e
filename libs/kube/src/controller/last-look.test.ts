import { expect, test } from "@jest/globals";
import type { ActOvertaken } from "../errors.ts";
import type { KubeObject, ObjectMeta } from "../objects/object.ts";
import { PAUSED } from "../objects/pause.ts";
import { lastLook } from "./last-look.ts";

const paused = { [PAUSED]: "true" };
const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", generation: 5 };

function object(changes: ObjectMeta = {}): KubeObject {
  return { metadata: { namespace: "shop", name: "web", uid: "1", generation: 4, resourceVersion: "10", ...changes } };
}

/** Why the look fails; undefined if it does not. */
function look(decidedFrom: KubeObject, present: KubeObject | undefined, held = true): unknown {
  const store = { get: (key: string) => (key === "shop/web" ? present : undefined) };
  try {
    lastLook(store, decidedFrom, { held: () => held })();
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
    return (error as ActOvertaken).why;
  }
}

test.each<[string, KubeObject, KubeObject | undefined, string | undefined]>([
  ["is the same", object(), object(), undefined],
  ["has another status or label", object(), object({ resourceVersion: "11", labels: { a: "b" } }), undefined],
  ["is gone", object(), undefined, "deleted"],
  ["is being deleted", object(), object(terminating), "deleted"],
  ["was being deleted already", object(terminating), object(terminating), undefined],
  ["has another uid", object(), object({ uid: "2" }), "replaced"],
  ["has another spec", object(), object({ generation: 5 }), "changed"],
  ["is paused", object(), object({ annotations: paused }), "paused"],
  ["was paused already", object({ annotations: paused }), object({ annotations: paused }), undefined],
  ["was resumed", object({ annotations: paused }), object(), undefined],
])("a last look at an object that %s", (_, decidedFrom, present, why) => {
  expect(look(decidedFrom, present)).toBe(why);
});

test("a last look in a term that is over", () => {
  expect(look(object(), object(), false)).toBe("not leader");
});

test("a last look sees the store as it is when it is called", () => {
  let present: KubeObject | undefined = object();
  const check = lastLook({ get: () => present }, object(), { held: () => true });
  expect(check).not.toThrow();
  present = undefined;
  expect(check).toThrow();
});
